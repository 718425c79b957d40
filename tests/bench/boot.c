/* SPDX-License-Identifier: MIT */
/*
 * boot.c - an external library whose constructor calls malloc while it is
 * being loaded as the backend: those blocks come from the bootstrap arena, and
 * ownership.c frees them.
 *
 * Its own malloc cuts blocks off a chunk and never reuses them.
 */
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define COUNT      20000
#define BLOCK_SIZE 64
#define CHUNK_SIZE ((size_t)256 << 20)
#define HEADER     16 /* the size of the block is in the last word of it */

void *bench_boot_blocks[COUNT];
unsigned bench_boot_count;

static struct {
	_Atomic(char *) chunk; /* set once */
	atomic_size_t used;
} g;

/* In the global scope malloc is the shim's. */
static __attribute__((constructor)) void boot(void)
{
	while (bench_boot_count < COUNT) {
		bench_boot_blocks[bench_boot_count++] = malloc(BLOCK_SIZE);
	}
}

static char *chunk(void)
{
	char *old = NULL, *fresh = g.chunk;

	if (fresh) {
		return fresh;
	}
	fresh = mmap(NULL, CHUNK_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fresh == MAP_FAILED) {
		return NULL;
	}
	if (!atomic_compare_exchange_strong(&g.chunk, &old, fresh)) {
		munmap(fresh, CHUNK_SIZE);
		fresh = old;
	}
	return fresh;
}

/* Functions of malloc's family must not call each other: that is the shim. */
static void *cut(size_t align, size_t size)
{
	char *base = chunk();
	size_t room, at;
	uintptr_t block;

	if (!base || align > CHUNK_SIZE || size > CHUNK_SIZE) {
		return NULL;
	}
	align = align < 16 ? 16 : align;
	room = (HEADER + size + align + 15) & ~(size_t)15;
	at = atomic_fetch_add(&g.used, room);
	if (at + room > CHUNK_SIZE) {
		return NULL;
	}
	block = ((uintptr_t)base + at + HEADER + align - 1) & ~(align - 1);
	((size_t *)block)[-1] = size;
	return (void *)block;
}

void *malloc(size_t size)
{
	return cut(16, size);
}

void free(void *ptr)
{
	(void)ptr;
}

void *memalign(size_t align, size_t size)
{
	return cut(align, size);
}

/* Blocks are fresh, so they are zero. */
void *calloc(size_t count, size_t size)
{
	return cut(16, count * size);
}

size_t malloc_usable_size(void *ptr)
{
	return ptr ? ((size_t *)ptr)[-1] : 0;
}

void *realloc(void *ptr, size_t size)
{
	void *block = cut(16, size);
	size_t have = ptr ? ((size_t *)ptr)[-1] : 0;

	if (block && ptr) {
		memcpy(block, ptr, have < size ? have : size);
	}
	return block;
}
