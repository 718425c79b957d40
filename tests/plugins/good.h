/* SPDX-License-Identifier: MIT */
/*
 * good.h - a whole plugin, for the broken ones to break in one place.
 *
 * A bump allocator over host->reserve(): 64 MiB, nothing is freed.
 */
#ifndef AMUX_TESTS_PLUGINS_GOOD_H
#define AMUX_TESTS_PLUGINS_GOOD_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <allocmux/backend.h>

enum { HEAP_SIZE = 64 << 20, HEADER = 16 };

static struct {
	char *base;
	_Atomic size_t used; /* sync: atomic */
} good;

static int good_init(const struct amux_host *host)
{
	good.base = host->reserve(host, HEAP_SIZE, 1 << 21);
	if (!good.base ||
		mprotect(good.base, HEAP_SIZE, PROT_READ | PROT_WRITE)) {
		return ENOMEM;
	}
	return 0;
}

static void *good_memalign(size_t align, size_t size)
{
	size_t start, room;

	if (size > HEAP_SIZE || align > HEAP_SIZE) {
		errno = ENOMEM;
		return NULL;
	}
	room = HEADER + align + (size + 15) / 16 * 16;
	start = __atomic_fetch_add(&good.used, room, __ATOMIC_RELAXED);
	if (start + room > HEAP_SIZE) {
		errno = ENOMEM;
		return NULL;
	}
	start = (start + HEADER + align - 1) / align * align;
	*(size_t *)(good.base + start - sizeof(size_t)) = size;
	return good.base + start;
}

static void *good_malloc(size_t size)
{
	return good_memalign(16, size);
}

static void good_free(void *ptr)
{
	(void)ptr;
}

static size_t good_usable_size(void *ptr)
{
	return ((size_t *)ptr)[-1];
}

#define GOOD_TABLE                                                             \
	.abi = AMUX_BACKEND_ABI, .size = sizeof(struct amux_backend),          \
	.name = "good", .version = "1", .summary = "a test plugin",            \
	.init = good_init, .malloc = good_malloc, .free = good_free,           \
	.memalign = good_memalign, .usable_size = good_usable_size

#endif
