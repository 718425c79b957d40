/* SPDX-License-Identifier: MIT */
/* The glibc manual promises 16-byte alignment for every malloc/realloc block on
 * 64-bit systems, and compilers derive code from it (movaps on >=16-byte
 * objects, pointer tagging in the low 4 bits by some runtimes). class: G */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	for (int r = 0; r < 200; r++) {
		for (size_t n = 1; n <= 64; n++) {
			void *p = malloc(hz_n(n)), *c = calloc(1, hz_n(n)),
			     *q = realloc(hz_hide(NULL), hz_n(n));
			CHECK(!((uintptr_t)p & 15));
			CHECK(!((uintptr_t)c & 15));
			CHECK(!((uintptr_t)q & 15));
			if (r & 1) {
				free(p);
				free(c);
				free(q);
			}
		}
	}
	return 0;
}
