/* SPDX-License-Identifier: MIT */
/*
 * test_dl_property.c - a million random operations on dl against a model.
 *
 * The model is a table of live blocks, each filled with a pattern of its own.
 * After every operation on a block its old contents must be there; every few
 * thousand operations the allocator must find its own structures whole and its
 * walk must give exactly the blocks of the model.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "../../backends/dl/dl.h"
#include "../support/host.h"

enum { SLOTS = 2000, OPERATIONS = 1000000, CHECK_EVERY = 200 };
enum { WALK_EVERY = 20000, LARGEST = 400000 };

struct slot {
	unsigned char *block;
	size_t size;
	unsigned char fill;
};

static struct {
	const struct amux_backend *backend;
	struct slot slots[SLOTS];
	uint64_t random;
	size_t walked;
	bool strangers;
} g;

static uint64_t next_random(void)
{
	g.random ^= g.random << 13;
	g.random ^= g.random >> 7;
	g.random ^= g.random << 17;
	return g.random;
}

/* Mostly small, now and then large: each power of two is as likely. */
static size_t random_size(void)
{
	unsigned log = (unsigned)(next_random() % 19);

	if (log > 12 && next_random() % 16) {
		log %= 12;
	}

	size_t size = ((size_t)1 << log) + next_random() % ((size_t)1 << log);

	return size < LARGEST ? size : LARGEST;
}

static void slot_fill(struct slot *s)
{
	s->fill = (unsigned char)next_random();
	memset(s->block, s->fill, s->size);
}

static bool holds_fill(const unsigned char *block, size_t size, int fill)
{
	/* The ends, where neighbours meet, and a sample in between. */
	for (size_t i = 0; i < size; i += i < 64 || i + 64 >= size ? 1 : 61) {
		if (block[i] != fill) {
			return false;
		}
	}
	return true;
}

static void slot_new(struct slot *s)
{
	size_t align = 16;

	s->size = random_size();
	switch (next_random() % 8) {
	case 0:
		align = (size_t)32 << next_random() % 9;
		s->block = g.backend->memalign(align, s->size);
		break;
	case 1:
		s->block = g.backend->calloc(1, s->size);
		assert_non_null(s->block);
		assert_true(holds_fill(s->block, s->size, 0));
		break;
	default:
		s->block = g.backend->malloc(s->size);
		break;
	}
	assert_non_null(s->block);
	assert_int_equal((uintptr_t)s->block % align, 0);
	assert_true(g.backend->usable_size(s->block) >= s->size);
	slot_fill(s);
}

static void slot_operate(struct slot *s)
{
	if (!s->block) {
		slot_new(s);
		return;
	}
	assert_true(holds_fill(s->block, s->size, s->fill));
	switch (next_random() % 4) {
	case 0: {
		size_t size = random_size();
		size_t kept = size < s->size ? size : s->size;

		s->block = g.backend->realloc(s->block, size);
		assert_non_null(s->block);
		assert_true(holds_fill(s->block, kept, s->fill));
		s->size = size;
		slot_fill(s);
		break;
	}
	case 1:
		g.backend->free_sized(s->block, s->size);
		s->block = NULL;
		break;
	default:
		g.backend->free(s->block);
		s->block = NULL;
		break;
	}
}

static int compare_blocks(const void *a, const void *b)
{
	const unsigned char *left = ((const struct slot *)a)->block;
	const unsigned char *right = ((const struct slot *)b)->block;

	return (left > right) - (left < right);
}

/* arg: the slots in address order. */
static int find_block(void *block, size_t usable, void *arg)
{
	const struct slot key = {.block = block};
	const struct slot *found =
		bsearch(&key, arg, SLOTS, sizeof(key), compare_blocks);

	g.walked++;
	g.strangers |= !found || usable < found->size;
	return 0;
}

static void check_walk(void)
{
	static struct slot sorted[SLOTS];
	size_t live = 0;

	memcpy(sorted, g.slots, sizeof(sorted));
	qsort(sorted, SLOTS, sizeof(sorted[0]), compare_blocks);
	for (int i = 0; i < SLOTS; i++) {
		live += g.slots[i].block != NULL;
	}
	g.walked = 0;
	g.strangers = false;
	assert_int_equal(g.backend->walk(find_block, sorted), 0);
	assert_false(g.strangers);
	assert_int_equal(g.walked, live);
}

static void check_stats(void)
{
	struct amux_stats stats;
	size_t live = 0, bytes = 0;

	for (int i = 0; i < SLOTS; i++) {
		if (g.slots[i].block) {
			live++;
			bytes += g.backend->usable_size(g.slots[i].block);
		}
	}
	g.backend->stats(&stats);
	assert_int_equal(stats.live_blocks, live);
	assert_int_equal(stats.live_bytes, bytes);
}

static void operate(const struct amux_backend *backend, int operations)
{
	g.backend = backend;
	g.random = 88172645463325252u;
	memset(g.slots, 0, sizeof(g.slots));
	for (int i = 0; i < operations; i++) {
		slot_operate(&g.slots[next_random() % SLOTS]);
		if (i % CHECK_EVERY == 0) {
			assert_int_equal(backend->check(), 0);
		}
		if (i % WALK_EVERY == 0) {
			check_walk();
			check_stats();
			backend->trim(0);
		}
	}
	for (int i = 0; i < SLOTS; i++) {
		if (g.slots[i].block) {
			backend->free(g.slots[i].block);
		}
	}
	assert_int_equal(backend->check(), 0);
	assert_int_equal(test_host_bad_pointers(), 0);
}

static void test_dl_agrees_with_a_model_for_a_million_operations(void **state)
{
	assert_int_equal(amux_dl_backend.init(test_host("dl")), 0);
	operate(&amux_dl_backend, OPERATIONS);
}

static void test_dl_checked_agrees_with_a_model(void **state)
{
	assert_int_equal(
		amux_dl_checked_backend.init(test_host("dl-checked")), 0);
	operate(&amux_dl_checked_backend, OPERATIONS / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_dl_agrees_with_a_model_for_a_million_operations),
		cmocka_unit_test(test_dl_checked_agrees_with_a_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
