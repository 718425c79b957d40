/* SPDX-License-Identifier: MIT */
/*
 * fuzz_dl.c - libFuzzer drives malloc, calloc, memalign, realloc and free of a
 * private heap; the input is a program of operations.
 *
 * Four bytes an operation: which, slot, size (two bytes, the upper nibble of
 * the first byte scales it). Every block keeps a pattern of its own that is
 * checked before it is touched again, and the heap is verified at the end, as
 * well as whenever the program says so. dl and dl-checked take turns by the
 * first byte. A fault aborts; libFuzzer keeps the input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../backends/dl/dl.h"
#include "../support/host.h"
#include "check.h"

enum { SLOTS = 64 };

struct slot {
	unsigned char *block;
	size_t size;
};

static struct slot slots[SLOTS];

static void slot_fill(unsigned i)
{
	memset(slots[i].block, (int)i + 1, slots[i].size);
}

static void slot_verify(unsigned i, size_t size)
{
	for (size_t n = 0; n < size; n += n < 64 || n + 64 > size ? 1 : 37) {
		AMUX_CHECK(slots[i].block[n] == i + 1);
	}
}

static void operate(
	const struct amux_backend *backend, void *heap, const uint8_t *op)
{
	unsigned i = op[1] % SLOTS;
	struct slot *s = &slots[i];
	size_t size = ((size_t)(op[2] | op[3] << 8) << (op[0] >> 4) >> 10) + 1;
	size_t align = (size_t)16 << op[3] % 10;
	unsigned char *block;

	if (s->block) {
		slot_verify(i, s->size);
	}
	switch (op[0] % 6) {
	case 0:
	case 1:
		if (!s->block) {
			s->block = op[0] % 6 ? backend->heap_memalign(
						       heap, align, size)
					     : backend->heap_malloc(heap, size);
			AMUX_CHECK(op[0] % 6 == 0 ||
				   (uintptr_t)s->block % align == 0);
			break;
		}
		backend->heap_free(heap, s->block);
		s->block = NULL;
		return;
	case 2:
	case 3:
		if (!s->block) {
			return;
		}
		block = backend->heap_realloc(heap, s->block, size);
		if (!block) {
			return;
		}
		s->block = block;
		slot_verify(i, s->size < size ? s->size : size);
		break;
	case 4:
		if (s->block) {
			backend->free(s->block); /* finds the heap itself */
			s->block = NULL;
		}
		return;
	default:
		AMUX_CHECK(backend->check() == 0);
		if (op[1] & 1) {
			backend->trim(op[2]);
		}
		return;
	}
	s->size = size;
	if (s->block) {
		slot_fill(i);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool started;
	const struct amux_backend *backend;
	void *heap;

	if (!started) {
		AMUX_CHECK(amux_dl_backend.init(test_host("dl")) == 0);
		AMUX_CHECK(amux_dl_checked_backend.init(
				   test_host("dl-checked")) == 0);
		started = true;
	}
	if (size < 1) {
		return 0;
	}
	backend = data[0] & 1 ? &amux_dl_checked_backend : &amux_dl_backend;
	heap = backend->heap_create(NULL, 0);
	AMUX_CHECK(heap);
	memset(slots, 0, sizeof(slots));
	for (size_t at = 1; at + 4 <= size; at += 4) {
		operate(backend, heap, data + at);
	}
	AMUX_CHECK(backend->check() == 0);
	AMUX_CHECK(test_host_bad_pointers() == 0);
	backend->heap_destroy(heap);
	return 0;
}
