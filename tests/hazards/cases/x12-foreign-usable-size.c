/* SPDX-License-Identifier: MIT */
/* Route: statistics code calls malloc_usable_size on blocks it did not allocate
 * itself: from a DEEPBIND plugin, from __libc_malloc, from strdup. class: P */
#include "hz.h"
extern void *__libc_malloc(size_t);
int main(void)
{
	hz_limit(10);
	void *h = hz_open("plug.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	HZ_FN(h, void *, pl_malloc, size_t);
	HZ_FN(h, void, pl_free, void *);
	for (size_t n = 1; n < 300000; n = n * 2 + 3) {
		void *a = pl_malloc(n), *b = __libc_malloc(n), *c = malloc(n);
		size_t ua = malloc_usable_size(a), ub = malloc_usable_size(b),
		       uc = malloc_usable_size(c);
		CHECK(ua >= n && ua < 4 * n + 70000);
		CHECK(ub >= n && ub < 4 * n + 70000);
		CHECK(uc >= n && uc < 4 * n + 70000);
		memset(a, 1, n);
		memset(b, 1, n);
	}
	return 0;
}
