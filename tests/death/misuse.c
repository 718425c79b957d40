/* SPDX-License-Identifier: MIT */
/*
 * misuse.c - one mistake with a pointer, named by the argument. With a mistake
 * that is ignored (ALLOC_BAD_FREE=warn) the heap goes on working.
 */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char module_data[64] __attribute__((aligned(16)));

/* Opaque, so that the compiler neither warns nor assumes. */
static void *hide(void *ptr)
{
	__asm__ volatile("" : "+r"(ptr));
	return ptr;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char *block = malloc(100);
	void *misaligned = hide(block + 8);
	void *beyond = hide((void *)((uintptr_t)1 << 50));

	if (!strcmp(what, "free-misaligned")) {
		free(misaligned);
	} else if (!strcmp(what, "realloc-misaligned")) {
		if (realloc(misaligned, 200)) {
			return 3;
		}
	} else if (!strcmp(what, "usable-misaligned")) {
		if (malloc_usable_size(misaligned)) {
			return 3;
		}
	} else if (!strcmp(what, "free-beyond")) {
		free(beyond);
	} else if (!strcmp(what, "free-module")) {
		free(hide(module_data + 16));
	} else if (!strcmp(what, "double-free")) {
		free(block);
		free(hide(block));
		block = NULL;
	} else {
		return 2;
	}
	free(block);
	block = malloc(5000);
	if (!block) {
		return 4;
	}
	memset(block, 1, 5000);
	free(block);
	return 0;
}
