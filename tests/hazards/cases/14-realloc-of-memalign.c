/* SPDX-License-Identifier: MIT */
/* realloc, malloc_usable_size and free of blocks from the aligned calls: a
 * header in front of the aligned address is read wrongly, and contents or
 * neighbours are lost. class: P */
#include "hz.h"
static void *aligned(int how, size_t a, size_t n)
{
	void *p = NULL;
	switch (how) {
	case 0:
		return memalign(a, n);
	case 1:
		return aligned_alloc(a, n);
	default:
		CHECK(!posix_memalign(&p, a, n));
		return p;
	}
}
static void filled(const unsigned char *p, size_t n, unsigned char c)
{
	for (size_t i = 0; i < n; i++) {
		CHECK(p[i] == c);
	}
}
int main(void)
{
	hz_limit(30);
	size_t sizes[] = {1, 17, 100, 1000, 4096, 5000, 70000, 300000, 2 << 20};
	enum { S = sizeof sizes / sizeof *sizes };
	for (size_t a = 16; a <= (size_t)1 << 21; a *= 2) {
		for (int i = 0; i < S; i++) {
			for (int j = 0; j < S; j++) {
				size_t n = sizes[i], m = sizes[j];
				unsigned char c = 1 + (i * S + j) % 250;
				unsigned char *lo = malloc(n);
				unsigned char *p = aligned(j % 3, a, n);
				unsigned char *hi = malloc(n);
				CHECK(lo && p && hi && !((uintptr_t)p % a));
				size_t u = malloc_usable_size(p);
				CHECK(u >= n);
				memset(lo, 0, n);
				memset(hi, 0, n);
				memset(p, c, u);
				p = realloc(hz_hide(p), hz_n(m));
				CHECK(p && malloc_usable_size(p) >= m);
				filled(p, u < m ? u : m, c);
				memset(p, ~c, m);
				p = realloc(hz_hide(p), hz_n(m + 1));
				CHECK(p);
				filled(p, m, ~c);
				filled(lo, n, 0);
				filled(hi, n, 0);
				free(p);
				free(lo);
				free(hi);
			}
		}
	}
	return 0;
}
