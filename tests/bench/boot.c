/* SPDX-License-Identifier: MIT */
/*
 * boot.c - an external library whose constructor calls malloc while it is
 * being loaded as the backend: those blocks come from the bootstrap arena.
 * ownership.c frees them. Its own malloc is libc's.
 */
#include <stddef.h>
#include <stdlib.h>

#define COUNT      20000
#define BLOCK_SIZE 64

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *ptr);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *ptr, size_t size);
extern void *__libc_memalign(size_t align, size_t size);

void *bench_boot_blocks[COUNT];
unsigned bench_boot_count;

/* In the global scope malloc is the shim's. */
static __attribute__((constructor)) void boot(void)
{
	while (bench_boot_count < COUNT) {
		bench_boot_blocks[bench_boot_count++] = malloc(BLOCK_SIZE);
	}
}

void *malloc(size_t size)
{
	return __libc_malloc(size);
}

void free(void *ptr)
{
	__libc_free(ptr);
}

void *calloc(size_t count, size_t size)
{
	return __libc_calloc(count, size);
}

void *realloc(void *ptr, size_t size)
{
	return __libc_realloc(ptr, size);
}

void *memalign(size_t align, size_t size)
{
	return __libc_memalign(align, size);
}
