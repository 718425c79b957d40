/* SPDX-License-Identifier: MIT */
/* Route: blocks of the host (preload allocator) are freed/reallocated/measured
 * inside a RTLD_DEEPBIND plugin, i.e. by libc. class: P */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	void *h = hz_open("plug.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	HZ_FN(h, void, pl_free, void *);
	HZ_FN(h, void *, pl_realloc, void *, size_t);
	HZ_FN(h, size_t, pl_usable, void *);
	for (int r = 0; r < 200; r++) {
		size_t n = 1 + r * 997 % 200000;
		char *p = malloc(n);
		memset(p, 7, n);
		CHECK(pl_usable(p) >= n);
		p = pl_realloc(p, n + 5000);
		CHECK(p && p[0] == 7 && p[n - 1] == 7);
		pl_free(p);
		pl_free(malloc(n));
		pl_free(calloc(3, 100));
		pl_free(memalign(4096, 5000));
		pl_free(strdup("x"));
	}
	return 0;
}
