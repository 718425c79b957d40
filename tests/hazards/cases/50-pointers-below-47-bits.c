/* SPDX-License-Identifier: MIT */
/* NaN-boxing and pointer-tagging programs (JS engines, LuaJIT, tagged unions)
 * need canonical user pointers below 2^47 with the top 17 bits clear; hints for
 * 5-level paging or top-byte tags break them. class: R */
#include "hz.h"
int main(void)
{
	hz_limit(15);
	for (size_t n = 1; n < ((size_t)1 << 40); n = n * 3 + 1) {
		void *p = malloc(n);
		if (p) {
			CHECK(!((uintptr_t)p >> 47));
		}
		void *q = NULL;
		if (!posix_memalign(&q, 1 << 21, n)) {
			CHECK(!((uintptr_t)q >> 47));
		}
		free(p);
		free(q);
	}
	for (int i = 0; i < 3000; i++) {
		void *p = malloc(1 << 20);
		CHECK(p && !((uintptr_t)p >> 47));
	}
	return 0;
}
