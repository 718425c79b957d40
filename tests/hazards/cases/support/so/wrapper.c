/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
/* a second preload of the tracing kind: wraps malloc/free/calloc/realloc with
 * RTLD_NEXT and counts; has a small bootstrap arena */
static void *(*rm)(size_t), *(*rc)(size_t, size_t), *(*rr)(void *, size_t);
static void (*rf)(void *);
static char boot[65536] __attribute__((aligned(16)));
static size_t used;
static int busy;
long hz_wrapped;
static void init(void)
{
	if (busy || rf) {
		return;
	}
	busy = 1;
	rc = dlsym(RTLD_NEXT, "calloc");
	rr = dlsym(RTLD_NEXT, "realloc");
	void *(*m)(size_t) = dlsym(RTLD_NEXT, "malloc");
	rf = dlsym(RTLD_NEXT, "free");
	rm = m;
	busy = 0;
}
static void *bump(size_t n)
{
	n = (n + 31) & ~(size_t)15;
	if (used + n > sizeof boot) {
		return 0;
	}
	char *p = boot + used;
	used += n;
	*(size_t *)p = n - 16;
	return p + 16;
}
static int mine(void *p)
{
	return (char *)p >= boot && (char *)p < boot + sizeof boot;
}
void *malloc(size_t n)
{
	init();
	if (!rm) {
		return bump(n);
	}
	hz_wrapped++;
	return rm(n);
}
void *calloc(size_t a, size_t b)
{
	init();
	if (!rm) {
		void *p = bump(a * b);
		return p;
	}
	hz_wrapped++;
	return rc(a, b);
}
void free(void *p)
{
	if (!p || mine(p)) {
		return;
	}
	init();
	rf(p);
}
void *realloc(void *p, size_t n)
{
	init();
	if (mine(p)) {
		void *q = malloc(n);
		if (q) {
			size_t o = ((size_t *)p)[-2];
			memcpy(q, p, o < n ? o : n);
		}
		return q;
	}
	if (!rm) {
		return bump(n);
	}
	return rr(p, n);
}
