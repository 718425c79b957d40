/* SPDX-License-Identifier: MIT */
/*
 * family.c - see family.h.
 */
#include "family.h"

#include <string.h>

#include "base/elfsym.h"

static const struct family_member family[] = {
	{"malloc", false},
	{"free", true},
	{"calloc", false},
	{"realloc", true},
	{"reallocarray", true},
	{"memalign", false},
	{"aligned_alloc", false},
	{"posix_memalign", false},
	{"valloc", false},
	{"pvalloc", false},
	{"malloc_usable_size", true},
	{"cfree", true},
	{"free_sized", true},
	{"free_aligned_sized", true},
	{"mallopt", false},
	{"mallinfo", false},
	{"mallinfo2", false},
	{"malloc_trim", false},
	{"malloc_stats", false},
	{"malloc_info", false},
};

enum { MEMBERS = sizeof(family) / sizeof(family[0]) };

const struct family_member *family_member(size_t i)
{
	return i < MEMBERS ? &family[i] : NULL;
}

void *family_own_function(const char *name)
{
	struct elf_object self;

	return elf_find_by_address((const void *)family_own_function, &self)
		       ? elf_symbol(&self, name)
		       : NULL;
}

void *family_function(const char *name)
{
	for (size_t i = 0; i < MEMBERS; i++) {
		if (!strcmp(family[i].name, name)) {
			return family_own_function(name);
		}
	}
	return NULL;
}
