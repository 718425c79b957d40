/* SPDX-License-Identifier: MIT */
/*
 * ownership.c - what does a free cost when the block may be anybody's?
 *
 *     ownership [-s PERCENT] [free|query]
 *
 * free: ns of free() for blocks of the active allocator, and under the shim
 * also of libc, of an external library (mimalloc) that was active before, and
 * of the bootstrap arena (with bench_boot.so as backend). query: ns of the
 * active allocator's own "is this yours?", as far as it has one.
 *
 * Figures are the least of many batches of 1000 blocks of 64 bytes.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define BATCH      1000
#define BLOCK_SIZE 64

static void *block[BATCH];
static volatile uintptr_t sink;

typedef void *malloc_fn(size_t size);

/* One of the process's functions, as a plain pointer. */
static void *symbol(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

/* The least ns a block over `batches` batches made by `get`. */
static double time_free(malloc_fn *get, uint64_t batches)
{
	uint64_t least = UINT64_MAX;

	for (uint64_t n = 0; n < batches; n++) {
		uint64_t start, took;

		for (unsigned i = 0; i < BATCH; i++) {
			block[i] = get(BLOCK_SIZE);
			if (!block[i]) {
				bench_fail("malloc failed");
			}
			stamp_set(block[i], BLOCK_SIZE);
		}
		for (unsigned i = 0; i < BATCH; i++) {
			stamp_check(block[i], BLOCK_SIZE);
		}
		start = bench_now();
		for (unsigned i = 0; i < BATCH; i++) {
			free(block[i]);
		}
		took = bench_now() - start;
		least = took < least ? took : least;
	}
	return (double)least / BATCH;
}

/*
 * External blocks are made in one go, the library being active, and freed
 * when it no longer is.
 */
static void time_external(uint64_t batches)
{
	int (*change)(const char *);
	const char *(*active)(void);
	uint64_t least = UINT64_MAX;
	const char *before;

	*(void **)&change = symbol("amux_backend_switch");
	*(void **)&active = symbol("amux_backend_active");
	if (!change || !active) {
		return;
	}
	before = active();
	for (uint64_t n = 0; n < batches / 10 + 1; n++) {
		uint64_t start, took;

		if (change("mimalloc")) {
			return;
		}
		for (unsigned i = 0; i < BATCH; i++) {
			block[i] = bench_malloc(BLOCK_SIZE);
		}
		if (change(before)) {
			bench_fail("cannot switch back");
		}
		start = bench_now();
		for (unsigned i = 0; i < BATCH; i++) {
			free(block[i]);
		}
		took = bench_now() - start;
		least = took < least ? took : least;
	}
	bench_report("free_external", (double)least / BATCH);
}

/* Blocks that bench_boot.so made in its constructor; each can go but once. */
static void time_bootstrap(void)
{
	const char *path = getenv("ALLOC_BACKEND");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
	void **boot = library ? dlsym(library, "bench_boot_blocks") : NULL;
	const unsigned *count =
		library ? dlsym(library, "bench_boot_count") : NULL;
	uint64_t least = UINT64_MAX;

	if (!boot || !count) {
		return;
	}
	for (unsigned at = 0; at + BATCH <= *count; at += BATCH) {
		uint64_t start = bench_now(), took;

		for (unsigned i = 0; i < BATCH; i++) {
			free(boot[at + i]);
		}
		took = bench_now() - start;
		least = took < least ? took : least;
	}
	bench_report("free_bootstrap", (double)least / BATCH);
}

static void run_free(const struct bench *b)
{
	uint64_t batches = bench_scale(b, 2000, 5);
	malloc_fn *libc;

	*(void **)&libc = symbol("__libc_malloc");
	bench_report("free_own", time_free(malloc, batches));
	if (symbol("amux_owner")) {
		if (libc) {
			bench_report("free_libc", time_free(libc, batches));
		}
		time_bootstrap();
		time_external(batches);
	}
}

/* Each query returns something that depends on the answer. */
static int (*tcmalloc_query)(const void *);
static _Bool (*mimalloc_query)(const void *);
static int (*jemalloc_query)(const char *, void *, size_t *, void *, size_t);
static const char *(*amux_query)(const void *);

static uintptr_t ask_tcmalloc(void *ptr)
{
	return (uintptr_t)tcmalloc_query(ptr);
}

static uintptr_t ask_mimalloc(void *ptr)
{
	return mimalloc_query(ptr);
}

static uintptr_t ask_jemalloc(void *ptr)
{
	unsigned arena = 0;
	size_t size = sizeof(arena);

	jemalloc_query("arenas.lookup", &arena, &size, &ptr, sizeof(ptr));
	return arena;
}

static uintptr_t ask_amux(void *ptr)
{
	return (uintptr_t)amux_query(ptr);
}

static void time_query(
	const char *key, uintptr_t (*ask)(void *), uint64_t batches)
{
	uint64_t least = UINT64_MAX;

	for (uint64_t n = 0; n < batches; n++) {
		uint64_t start = bench_now(), took;

		for (unsigned i = 0; i < BATCH; i++) {
			sink += ask(block[i]);
		}
		took = bench_now() - start;
		least = took < least ? took : least;
	}
	bench_report(key, (double)least / BATCH);
}

static void run_query(const struct bench *b)
{
	uint64_t batches = bench_scale(b, 2000, 5);

	for (unsigned i = 0; i < BATCH; i++) {
		block[i] = bench_malloc(BLOCK_SIZE);
	}
	*(void **)&tcmalloc_query = symbol("MallocExtension_GetOwnership");
	*(void **)&mimalloc_query = symbol("mi_is_in_heap_region");
	*(void **)&jemalloc_query = symbol("mallctl");
	*(void **)&amux_query = symbol("amux_owner");
	if (amux_query) {
		time_query("query_own", ask_amux, batches);
	} else if (jemalloc_query) {
		time_query("query_own", ask_jemalloc, batches);
	} else if (tcmalloc_query) {
		time_query("query_own", ask_tcmalloc, batches);
	} else if (mimalloc_query) {
		time_query("query_own", ask_mimalloc, batches);
	}
	for (unsigned i = 0; i < BATCH; i++) {
		free(block[i]);
	}
}

int main(int argc, char *argv[])
{
	struct bench b;

	bench_parse(&b, argc, argv, "free query");
	if (strcmp(b.mode, "free") == 0) {
		run_free(&b);
	} else {
		run_query(&b);
	}
	bench_report("checked", 1);
	return 0;
}
