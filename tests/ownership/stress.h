/* SPDX-License-Identifier: MIT */
/*
 * stress.h - blocks of many owners, passed between threads, freed anywhere.
 */
#ifndef AMUX_TESTS_STRESS_H
#define AMUX_TESTS_STRESS_H

#include <stdbool.h>
#include <stddef.h>

/* The family under test: the dispatch table, or the process's own functions. */
struct stress_calls {
	void *(*malloc)(size_t size);
	void (*free)(void *ptr);
	void *(*calloc)(size_t count, size_t size);
	void *(*realloc)(void *ptr, size_t size);
	void *(*memalign)(size_t align, size_t size);
	size_t (*usable_size)(void *ptr);
	void (*free_sized)(void *ptr, size_t size);
	int (*switch_to)(const char *backend); /* 0, or an errno value */

	/* Makers that pass the family by, such as libc's own; may be NULL. */
	void *(*const *strangers)(size_t size);
};

/*
 * Run `threads` threads for `rounds` operations each, while the backends
 * (NULL-terminated) are switched through. Every block carries a pattern that
 * is verified whenever it is taken up. Returns 0, or the number of faults after
 * a line about each on stderr. Deterministic but for the order of threads.
 */
int stress_run(const struct stress_calls *calls, const char *const *backends,
	int threads, long rounds);

#endif
