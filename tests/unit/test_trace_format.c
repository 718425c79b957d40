/* SPDX-License-Identifier: MIT */
/*
 * The trace encoder against docs/trace-format.md: its worked example, read
 * from the document itself, and a decoder written from the document's words.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/encode.h"
#include "unit.h"

#define BLOCK 4096

/* Bytes of the ```hex NAME section of the document. */
static size_t document_bytes(const char *name, uint8_t *out, size_t size)
{
	FILE *f = fopen(AMUX_TEST_DOCS "/trace-format.md", "r");
	char fence[32];
	char line[256];
	size_t count = 0;
	bool inside = false;

	assert_non_null(f);
	snprintf(fence, sizeof(fence), "```hex %s\n", name);
	while (fgets(line, sizeof(line), f)) {
		if (!strcmp(line, fence)) {
			inside = true;
		} else if (!strncmp(line, "```", 3)) {
			inside = false;
		} else if (inside) {
			char *p = line;
			unsigned byte;
			int used;

			while (p[0] != ' ' && p[2] == ' ' &&
				sscanf(p, "%2x%n", &byte, &used) == 1) {
				assert_true(count < size);
				out[count++] = (uint8_t)byte;
				p += 3;
			}
		}
	}
	fclose(f);
	assert_int_not_equal(count, 0);
	return count;
}

static struct amux_trace_block *block_create(struct encoder *e)
{
	struct amux_trace_block *block = aligned_alloc(64, BLOCK);

	memset(block, 0, BLOCK);
	block->magic = AMUX_TRACE_BLOCK_MAGIC;
	block->kind = AMUX_TRACE_EVENTS;
	block->header_size = sizeof(*block);
	block->lane = 1;
	block->thread = 1;
	encode_begin(e, block, BLOCK);
	return block;
}

static void test_events_are_as_in_the_document(void **state)
{
	static struct encoder e;
	struct amux_trace_block *block = block_create(&e);
	uint8_t bytes[256];
	size_t lo, hi;

	encode_alloc(&e, AMUX_TRACE_MALLOC, 1, 24, 0, 0x55e0a0012340);
	encode_free(&e, AMUX_TRACE_OP_FREE, 0x55e0a0012340);
	encode_alloc(&e, AMUX_TRACE_MALLOC, 1, 24, 0, 0x55e0a0012340);
	encode_time(&e, 5000000);
	encode_alloc(&e, AMUX_TRACE_CALLOC, 2, 100, 4, 0x55e0a0012360);
	encode_free(&e, AMUX_TRACE_OP_REALLOC, 0x55e0a0012360);
	encode_alloc(&e, AMUX_TRACE_REALLOCED, 3, 300, 12, 0x55e0a0012400);

	lo = document_bytes("control", bytes, sizeof(bytes));
	assert_int_equal(block->committed & 0xffffffff, lo);
	assert_memory_equal(block + 1, bytes, lo);
	hi = document_bytes("operand", bytes, sizeof(bytes));
	assert_int_equal(block->committed >> 32, hi);
	assert_memory_equal((uint8_t *)block + BLOCK - hi, bytes, hi);
	assert_int_equal(e.events, 6);
	free(block);
}

static void test_stacks_are_as_in_the_document(void **state)
{
	static const uint64_t one[] = {0x401020, 0x400500};
	static const uint64_t two[] = {0x401050, 0x400500};
	uint8_t bytes[256];
	uint8_t mine[256];
	uint8_t *p;
	size_t count = document_bytes("stacks", bytes, sizeof(bytes));

	p = encode_stack(mine, 1, 1, one, 2, NULL, 0);
	p = encode_stack(p, 2, 1, two, 2, one, 2);
	assert_int_equal(p - mine, count);
	assert_memory_equal(mine, bytes, count);
}

/* ---- a decoder, straight from the document ---- */

struct event {
	unsigned op, how;
	uint32_t stack;
	uint64_t size, excess, addr;
};

struct decoder {
	const uint8_t *control, *control_end, *operand;
	struct event slot[256];
	uint64_t recent[256], last[64], last_alloc, last_free;
};

static uint64_t read_varint(struct decoder *d)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = *d->control++;
		v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return v;
}

static uint64_t read_address(
	struct decoder *d, unsigned code, uint64_t base, uint64_t same)
{
	static const unsigned length[8] = {1, 1, 2, 3, 4, 6, 0, 8};
	unsigned n = length[code];
	uint64_t v = 0;
	uint64_t addr;

	d->operand -= n;
	memcpy(&v, d->operand, n);
	if (code == AMUX_TRACE_ADDR_RECENT) {
		addr = d->recent[v];
	} else if (code == AMUX_TRACE_ADDR_SAME) {
		addr = same;
	} else if (code == AMUX_TRACE_ADDR_ABSOLUTE) {
		addr = v;
	} else {
		int64_t difference =
			(int64_t)(v << (64 - 8 * n)) >> (64 - 8 * n);

		addr = base + 8 * (uint64_t)difference;
	}
	d->recent[amux_trace_recent_index(addr)] = addr;
	return addr;
}

static struct event read_event(struct decoder *d)
{
	unsigned tag = *d->control++;
	unsigned code = tag >> 3;
	struct event event = {.op = tag & 7};

	if (event.op == AMUX_TRACE_OP_FREE ||
		event.op == AMUX_TRACE_OP_REALLOC) {
		event.addr = read_address(d, code, d->last_free, d->last_alloc);
		d->last_free = event.addr;
		return event;
	}

	struct event *slot = &d->slot[*d->control++];
	uint64_t *last;

	if (event.op == AMUX_TRACE_OP_ALLOC_NEW) {
		slot->how = *d->control++;
		slot->stack = (uint32_t)read_varint(d);
	}
	if (event.op != AMUX_TRACE_OP_ALLOC) {
		slot->size = read_varint(d);
		slot->excess = read_varint(d);
	}
	last = &d->last[amux_trace_class_index(slot->size + slot->excess)];
	slot->op = AMUX_TRACE_OP_ALLOC;
	slot->addr = read_address(d, code, *last, *last);
	*last = d->last_alloc = slot->addr;
	return *slot;
}

static uint64_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static uint64_t random_address(uint64_t *seed)
{
	static uint64_t near = 0x7f0000001000;

	switch (random_next(seed) % 8) {
	case 0:
		return random_next(seed) << 20 | random_next(seed);
	case 1:
		return UINT64_MAX - random_next(seed);
	case 2:
		return near;
	default:
		near += (random_next(seed) % 4096) * 16 - 2048 * 16;
		return near;
	}
}

static void test_any_events_decode_to_themselves(void **state)
{
	static struct encoder e;
	static struct decoder d;
	uint64_t seed = 1;

	for (int round = 0; round < 200; round++) {
		struct amux_trace_block *block = block_create(&e);
		struct event written[BLOCK];
		size_t count = 0;

		for (; encode_has_room(&e); count++) {
			struct event *w = &written[count];

			*w = (struct event){.addr = random_address(&seed)};
			if (random_next(&seed) % 2) {
				w->op = random_next(&seed) % 8
						? AMUX_TRACE_OP_FREE
						: AMUX_TRACE_OP_REALLOC;
				encode_free(&e, w->op, w->addr);
				continue;
			}
			w->op = AMUX_TRACE_OP_ALLOC;
			w->how = random_next(&seed) % 256;
			w->how = random_next(&seed) % 8 ? 0 : w->how;
			w->stack = (uint32_t)(random_next(&seed) % 300);
			w->size = random_next(&seed) % 3 * 8;
			if (random_next(&seed) % 16 == 0) {
				w->size = random_next(&seed) << 31;
			}
			w->excess = random_next(&seed) % 2 * 24;
			encode_alloc(&e, w->how, w->stack, w->size,
				(uint32_t)w->excess, w->addr);
		}

		memset(&d, 0, sizeof(d));
		d.control = (uint8_t *)(block + 1);
		d.control_end = d.control + (uint32_t)block->committed;
		d.operand = (uint8_t *)block + BLOCK;
		for (size_t i = 0; i < count; i++) {
			struct event r = read_event(&d);

			assert_int_equal(r.op, written[i].op);
			assert_int_equal(r.addr, written[i].addr);
			assert_int_equal(r.how, written[i].how);
			assert_int_equal(r.stack, written[i].stack);
			assert_int_equal(r.size, written[i].size);
			assert_int_equal(r.excess, written[i].excess);
		}
		assert_ptr_equal(d.control, d.control_end);
		assert_ptr_equal(d.operand,
			(uint8_t *)block + BLOCK - (block->committed >> 32));
		free(block);
	}
}

static void test_structures_have_their_documented_sizes(void **state)
{
	assert_int_equal(sizeof(struct amux_trace_block), 64);
	assert_int_equal(offsetof(struct amux_trace_block, committed), 32);
	assert_int_equal(sizeof(struct amux_trace_info), 16);
	assert_int_equal(sizeof(struct amux_trace_site), 256);
	assert_true(sizeof(struct amux_trace_file) <= AMUX_TRACE_BLOCK_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_are_as_in_the_document),
		cmocka_unit_test(test_stacks_are_as_in_the_document),
		cmocka_unit_test(test_any_events_decode_to_themselves),
		cmocka_unit_test(test_structures_have_their_documented_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
