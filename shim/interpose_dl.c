/* SPDX-License-Identifier: MIT */
/*
 * interpose_dl.c - dlopen, dlsym and dlvsym as the program sees them.
 *
 * Two changes, both needed so that one allocator serves the process:
 *   - dlopen clears RTLD_DEEPBIND (ALLOC_DEEPBIND=keep leaves it): such a
 *     module would take libc's malloc while the libc functions it calls take
 *     ours, and its free would meet our blocks where we cannot see it;
 *   - dlsym and dlvsym that would answer a name of the malloc family with
 *     libc's function answer with the process's (ctypes, cffi and JITs look
 *     them up on a handle of libc).
 * Everything else goes on by a jump (interpose_dl.S), because the loader tells
 * the caller's RUNPATH, $ORIGIN and RTLD_NEXT by the return address.
 */
#include "interpose_dl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <malloc.h>

#include "base/elfsym.h"
#include "dispatch.h"
#include "loader.h"

void free_sized(void *ptr, size_t size);
void free_aligned_sized(void *ptr, size_t align, size_t size);
void cfree(void *ptr);

/* Deprecated for others; the family is not whole without it. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* The process's functions: ours, unless another preload stands before us. */
static const struct {
	const char *name;
	void *function;
} family[] = {
	{"malloc", (void *)malloc},
	{"free", (void *)free},
	{"calloc", (void *)calloc},
	{"realloc", (void *)realloc},
	{"reallocarray", (void *)reallocarray},
	{"memalign", (void *)memalign},
	{"aligned_alloc", (void *)aligned_alloc},
	{"posix_memalign", (void *)posix_memalign},
	{"valloc", (void *)valloc},
	{"pvalloc", (void *)pvalloc},
	{"malloc_usable_size", (void *)malloc_usable_size},
	{"cfree", (void *)cfree},
	{"free_sized", (void *)free_sized},
	{"free_aligned_sized", (void *)free_aligned_sized},
	{"mallopt", (void *)mallopt},
	{"mallinfo", (void *)mallinfo},
	{"mallinfo2", (void *)mallinfo2},
	{"malloc_trim", (void *)malloc_trim},
	{"malloc_stats", (void *)malloc_stats},
	{"malloc_info", (void *)malloc_info},
};

static void *family_function(const char *name)
{
	for (size_t i = 0; i < sizeof(family) / sizeof(family[0]); i++) {
		if (!strcmp(family[i].name, name)) {
			return family[i].function;
		}
	}
	return NULL;
}

static bool in_libc(const void *function)
{
	struct elf_object libc;
	uintptr_t addr = (uintptr_t)function;

	return elf_find_libc(&libc) && addr >= libc.start && addr < libc.end;
}

void *interpose_dlsym(void *handle, const char *name)
{
	void *ours, *found;

	/*
	 * These two mean the caller's place in the search order. A sanitizer's
	 * runtime asks so for its very first symbols: nothing is started here.
	 */
	if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || !name) {
		return NULL;
	}
	lifecycle_start();
	ours = family_function(name);
	found = ours ? loader_symbol(handle, name) : NULL;
	return found && in_libc(found) ? ours : NULL;
}

void *interpose_real_dlopen(void)
{
	lifecycle_start();
	return (void *)loader_real.dlopen;
}

/* The loader's functions alone, which needs nothing but libc's symbols. */
static void find_loader(void)
{
	struct elf_object libc;

	if (!loader_real.dlsym && elf_find_libc(&libc)) {
		loader_start(&libc);
	}
}

void *interpose_real_dlsym(void)
{
	find_loader();
	return (void *)loader_real.dlsym;
}

void *interpose_real_dlvsym(void)
{
	find_loader();
	return (void *)loader_real.dlvsym;
}
