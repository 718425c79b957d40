/* SPDX-License-Identifier: MIT */
/*
 * libraries.c - the malloc libraries we know by name.
 *
 * Names and sonames as their makers and Debian, Fedora and Arch ship them.
 */
#include <string.h>

#include "registry.h"

#define SONAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct known_library libraries[] = {
	{"jemalloc", SONAMES("libjemalloc.so.2", "libjemalloc.so"), "",
		"arenas with thread caches and decay (FreeBSD, Redis)",
		"needs more static TLS than a late load gets: start with "
		"`allocmux run`"},
	{"tcmalloc",
		SONAMES("libtcmalloc_minimal.so.4", "libtcmalloc.so.4",
			"libtcmalloc_minimal.so", "libtcmalloc.so"),
		"", "gperftools: thread caches over spans",
		"gives little memory back by itself"},
	{"mimalloc",
		SONAMES("libmimalloc.so.2", "libmimalloc.so.2.0",
			"libmimalloc.so.3", "libmimalloc.so"),
		"", "free lists sharded by page, per-thread heaps", NULL},
	{"tbb", SONAMES("libtbbmalloc.so.2"), "scalable_",
		"oneTBB's scalable allocator",
		"not safe in the child of a multithreaded fork"},
	{"hoard", SONAMES("libhoard.so"), "", "per-thread superblocks", NULL},
	{"umem", SONAMES("libumem.so.1", "libumem.so.0", "libumem.so"), "",
		"Solaris slab allocator with magazines", NULL},
	{"scudo",
		SONAMES("libscudo.so", "libclang_rt.scudo_standalone-x86_64.so",
			"libclang_rt.scudo_standalone-aarch64.so"),
		"", "LLVM's hardened allocator", NULL},
	{"hardened",
		SONAMES("libhardened_malloc.so", "libhardened_malloc-light.so"),
		"", "GrapheneOS hardened_malloc", NULL},
	{"snmalloc",
		SONAMES("libsnmallocshim.so", "libsnmallocshim-minimal.so"), "",
		"message-passing frees, Microsoft Research", NULL},
	{"rpmalloc", SONAMES("librpmallocwrap.so", "librpmalloc.so"), "",
		"thread caches, 16-byte alignment", NULL},
};

enum { LIBRARIES = sizeof(libraries) / sizeof(libraries[0]) };

const struct known_library *registry_library(size_t i)
{
	return i < LIBRARIES ? &libraries[i] : NULL;
}

const struct known_library *registry_library_named(const char *name)
{
	for (size_t i = 0; i < LIBRARIES; i++) {
		if (!strcmp(libraries[i].name, name)) {
			return &libraries[i];
		}
	}
	return NULL;
}
