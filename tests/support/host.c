/* SPDX-License-Identifier: MIT */
/* host.c - see host.h. */
#include "host.h"

#include <ctype.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock.h"
#include "os.h"

enum { MAX_RANGES = 4096 };

static struct {
	struct lock lock;
	struct {
		char *addr;
		size_t size;
	} ranges[MAX_RANGES]; /* sync: lock */
	char backend[32];     /* sync: set before init */
	atomic_int bad_pointers;
	atomic_int foreign_calls;
	const char *_Atomic last_reason;
} g = {.lock = LOCK_INIT(LOCK_RANK_OWNER)};

static void *host_reserve(
	const struct amux_host *host, size_t size, size_t align)
{
	void *addr;

	if (os_reserve_aligned(size, align, &addr)) {
		return NULL;
	}
	lock_acquire(&g.lock);
	for (int i = 0; i < MAX_RANGES; i++) {
		if (!g.ranges[i].addr) {
			g.ranges[i].addr = addr;
			g.ranges[i].size = size;
			lock_release(&g.lock);
			return addr;
		}
	}
	lock_release(&g.lock);
	os_unmap(addr, size);
	return NULL;
}

static void host_release(const struct amux_host *host, void *addr, size_t size)
{
	lock_acquire(&g.lock);
	for (int i = 0; i < MAX_RANGES; i++) {
		if (g.ranges[i].addr == addr) {
			AMUX_CHECK(g.ranges[i].size == size);
			g.ranges[i].addr = NULL;
			lock_release(&g.lock);
			os_unmap(addr, size);
			return;
		}
	}
	AMUX_CHECK(!"release of a range that was never reserved");
}

bool test_host_covers(const void *ptr)
{
	bool found = false;

	lock_acquire(&g.lock);
	for (int i = 0; i < MAX_RANGES && !found; i++) {
		found = g.ranges[i].addr &&
			(size_t)((const char *)ptr - g.ranges[i].addr) <
				g.ranges[i].size;
	}
	lock_release(&g.lock);
	return found;
}

static const char *host_option(const struct amux_host *host, const char *name)
{
	char variable[128];

	snprintf(variable, sizeof(variable), "ALLOC_%s_%s", g.backend, name);
	for (char *c = variable; *c; c++) {
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	}
	return getenv(variable);
}

static void host_log(const struct amux_host *host, const char *line)
{
	fprintf(stderr, "%s\n", line);
}

static void host_bad_pointer(const struct amux_host *host, const char *call,
	const void *ptr, const char *what)
{
	g.last_reason = what;
	g.bad_pointers++;
}

static void host_foreign_free(void *ptr)
{
	g.foreign_calls++;
	free(ptr);
}

static void *host_foreign_realloc(void *ptr, size_t size)
{
	g.foreign_calls++;
	return realloc(ptr, size);
}

static size_t host_foreign_usable_size(void *ptr)
{
	g.foreign_calls++;
	return malloc_usable_size(ptr);
}

int test_host_bad_pointers(void)
{
	return g.bad_pointers;
}

const char *test_host_last_reason(void)
{
	return g.last_reason;
}

int test_host_foreign_calls(void)
{
	return g.foreign_calls;
}

const struct amux_host *test_host(const char *backend)
{
	static const struct amux_host host = {
		.abi = AMUX_BACKEND_ABI,
		.size = sizeof(host),
		.reserve = host_reserve,
		.release = host_release,
		.option = host_option,
		.log = host_log,
		.bad_pointer = host_bad_pointer,
		.foreign_free = host_foreign_free,
		.foreign_realloc = host_foreign_realloc,
		.foreign_usable_size = host_foreign_usable_size,
	};

	snprintf(g.backend, sizeof(g.backend), "%s", backend);
	return &host;
}
