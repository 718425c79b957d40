/* SPDX-License-Identifier: MIT */
/*
 * floor.c - the least that a general allocator's fast path can cost: a list of
 * free blocks for each size class of the calling thread, reached through the
 * PLT as malloc is.
 *
 * It is no allocator: it never returns memory, a block freed on another thread
 * moves there, and sizes stop at 4 KiB. The word before each block holds its
 * class.
 */
#include "floor.h"

#include <stdint.h>
#include <sys/mman.h>

#define CLASS_SHIFT 4
#define CLASSES     ((FLOOR_SIZE_MAX >> CLASS_SHIFT) + 1)
#define HEADER      16
#define CHUNK_SIZE  (1u << 20)

struct node {
	struct node *next;
};

static __thread struct node *list[CLASSES];

/* Cut a fresh chunk into blocks of class `c`; return one of them. */
static __attribute__((noinline)) void *refill(unsigned c)
{
	unsigned step = HEADER + (c << CLASS_SHIFT);
	char *chunk = mmap(NULL, CHUNK_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (chunk == MAP_FAILED) {
		return NULL;
	}
	for (unsigned at = HEADER; at + step <= CHUNK_SIZE; at += step) {
		struct node *node = (struct node *)(chunk + at);

		((uint64_t *)node)[-1] = c;
		node->next = list[c];
		list[c] = node;
		/* A handful of blocks suffices to measure. */
		if (at > 64 * step) {
			break;
		}
	}
	return floor_malloc(c << CLASS_SHIFT);
}

void *floor_malloc(size_t size)
{
	size_t c = (size + (1 << CLASS_SHIFT) - 1) >> CLASS_SHIFT;
	struct node *node;

	if (__builtin_expect(c - 1 >= CLASSES - 1, 0)) {
		return NULL;
	}
	node = list[c];
	if (__builtin_expect(!node, 0)) {
		return refill((unsigned)c);
	}
	list[c] = node->next;
	return node;
}

void floor_free(void *ptr)
{
	struct node *node = ptr;
	uint64_t c;

	if (__builtin_expect(!node, 0)) {
		return;
	}
	c = ((uint64_t *)ptr)[-1];
	node->next = list[c];
	list[c] = node;
}
