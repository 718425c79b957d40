/* SPDX-License-Identifier: MIT */
/* Obsolete but exported page-aligned calls. If the preload library forgets one
 * of them, glibc's version serves it and the library's free() gets a foreign
 * pointer. class: G */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	size_t pg = sysconf(_SC_PAGESIZE);
	for (int i = 0; i < 500; i++) {
		char *a = valloc(1 + i * 7), *b = pvalloc(1 + i * 7),
		     *c = memalign(32, 10 + i), *d = aligned_alloc(256, 10 + i),
		     *e = NULL;
		CHECK(posix_memalign((void **)&e, 512, 20 + i) == 0);
		CHECK(a && b && c && d && e);
		CHECK(!((uintptr_t)a % pg) && !((uintptr_t)b % pg));
		CHECK(malloc_usable_size(b) >= pg);
		memset(b, 1, pg);
		b = realloc(hz_hide(b), 3 * pg);
		CHECK(b && b[pg - 1] == 1);
		a = realloc(hz_hide(a), 5);
		CHECK(a);
		free(a);
		free(b);
		free(c);
		free(d);
		free(e);
	}
	return 0;
}
