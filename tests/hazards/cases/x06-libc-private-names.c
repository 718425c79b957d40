/* SPDX-License-Identifier: MIT */
/* Route: old wrappers call glibc's private names __libc_malloc, __libc_free,
 * __libc_calloc, __libc_realloc and __libc_memalign and mix them with the
 * public ones. class: P */
#include "hz.h"
#define WEAK __attribute__((weak))
extern void *__libc_malloc(size_t) WEAK;
extern void *__libc_calloc(size_t, size_t) WEAK;
extern void *__libc_realloc(void *, size_t) WEAK;
extern void *__libc_memalign(size_t, size_t) WEAK;
extern void __libc_free(void *) WEAK;
int main(void)
{
	hz_limit(10);
	if (!__libc_malloc || !__libc_calloc || !__libc_realloc ||
		!__libc_memalign || !__libc_free) {
		SKIP("this libc has no private names");
	}
	for (int i = 0; i < 300; i++) {
		size_t n = 1 + i * 331 % 90000;
		free(__libc_malloc(n));
		free(__libc_calloc(3, n));
		free(__libc_memalign(256, n));
		char *p = __libc_malloc(n);
		memset(p, 7, n);
		p = realloc(p, 2 * n);
		CHECK(p && p[0] == 7 && p[n - 1] == 7);
		p = realloc(p, 10);
		CHECK(p && p[0] == 7);
		free(p);
		p = __libc_memalign(4096, n);
		memset(p, 5, n);
		p = realloc(p, 3 * n);
		CHECK(p && p[0] == 5 && p[n - 1] == 5);
		free(p);
		p = __libc_realloc(__libc_malloc(n), 2 * n);
		CHECK(p);
		__libc_free(p);
	}
	return 0;
}
