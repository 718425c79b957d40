/* SPDX-License-Identifier: MIT */
/* C requirement: blocks of >= 16 bytes suit max_align_t (16 on x86-64/aarch64).
 * class: P */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	for (int r = 0; r < 20; r++) {
		for (size_t n = 16; n <= 70000; n += (n < 2000 ? 1 : 509)) {
			void *p = malloc(hz_n(n));
			CHECK(p && !((uintptr_t)p % _Alignof(max_align_t)));
			p = realloc(hz_hide(p), hz_n(n + 24));
			CHECK(p && !((uintptr_t)p % _Alignof(max_align_t)));
			if (r % 3) {
				free(p);
			}
		}
	}
	return 0;
}
