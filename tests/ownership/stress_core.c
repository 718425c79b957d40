/* SPDX-License-Identifier: MIT */
/*
 * stress_core.c - the stress on the core alone, so that sanitizers can watch.
 *
 *     stress_core ROUNDS BACKEND...
 *
 * The program keeps its own malloc; the blocks under test go through the
 * dispatch table. Exit status 0 if nothing went wrong.
 */
#include <stdio.h>
#include <stdlib.h>

#include <allocmux/allocmux.h>

#include "dispatch.h"
#include "stress.h"

/* The table is read at each call: it changes with every switch. */

static void *core_malloc(size_t size)
{
	return dispatch.malloc(size);
}

static void core_free(void *ptr)
{
	dispatch.free(ptr);
}

static void *core_calloc(size_t count, size_t size)
{
	return dispatch.calloc(count, size);
}

static void *core_realloc(void *ptr, size_t size)
{
	return dispatch.realloc(ptr, size);
}

static void *core_memalign(size_t align, size_t size)
{
	return dispatch.memalign(align, size);
}

static size_t core_usable_size(void *ptr)
{
	return dispatch.usable_size(ptr);
}

static void core_free_sized(void *ptr, size_t size)
{
	dispatch.free_sized(ptr, size);
}

int main(int argc, char **argv)
{
	static const struct stress_calls calls = {
		.malloc = core_malloc,
		.free = core_free,
		.calloc = core_calloc,
		.realloc = core_realloc,
		.memalign = core_memalign,
		.usable_size = core_usable_size,
		.free_sized = core_free_sized,
		.switch_to = amux_backend_switch,
	};

	if (argc < 3) {
		fprintf(stderr, "usage: stress_core ROUNDS BACKEND...\n");
		return 2;
	}
	return stress_run(&calls, (const char *const *)argv + 2, 4,
		       atol(argv[1])) != 0;
}
