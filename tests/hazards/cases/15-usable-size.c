/* SPDX-License-Identifier: MIT */
/* malloc_usable_size: 0 for NULL, >= request, every usable byte writable, value
 * stable while the block lives. class: G */
#include "hz.h"
int main(void)
{
	hz_limit(20);
	CHECK(malloc_usable_size(hz_hide(NULL)) == 0);
	enum { N = 3000 };
	static unsigned char *v[N];
	static size_t u[N];
	for (int i = 0; i < N; i++) {
		size_t n = (size_t)i * (i % 11 ? 1 : 97);
		v[i] = i % 5 ? malloc(n) : memalign(128, n);
		u[i] = malloc_usable_size(v[i]);
		CHECK(u[i] >= n);
		memset(v[i], i, u[i]);
	}
	for (int i = 0; i < N; i += 3) {
		free(v[i]);
		v[i] = NULL;
	}
	for (int i = 0; i < N; i++) {
		if (v[i]) {
			CHECK(malloc_usable_size(v[i]) == u[i]);
			for (size_t k = 0; k < u[i]; k++) {
				CHECK(v[i][k] == (unsigned char)i);
			}
		}
	}
	for (int i = 0; i < N; i++) {
		free(v[i]);
	}
	return 0;
}
