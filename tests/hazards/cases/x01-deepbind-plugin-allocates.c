/* SPDX-License-Identifier: MIT */
/* Route: plugin loaded with RTLD_DEEPBIND binds malloc to libc; the host
 * frees/reallocs/measures through the preload. class: P */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	void *h = hz_open("plug.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	HZ_FN(h, void *, pl_malloc, size_t);
	HZ_FN(h, void *, pl_calloc, size_t);
	HZ_FN(h, void *, pl_memalign, size_t, size_t);
	HZ_FN(h, char *, pl_strdup, const char *);
	for (int r = 0; r < 200; r++) {
		size_t n = 1 + r * 997 % 200000;
		char *p = pl_malloc(n);
		memset(p, 7, n);
		CHECK(malloc_usable_size(p) >= n);
		p = realloc(p, n + 5000);
		CHECK(p && p[0] == 7 && p[n - 1] == 7);
		free(p);
		free(pl_malloc(24));
		free(pl_calloc(n));
		p = pl_memalign(256, n);
		p = realloc(p, 10);
		free(p);
		free(pl_memalign(4096, 100));
		free(pl_strdup("abc"));
	}
	return 0;
}
