/* SPDX-License-Identifier: MIT */
/* aligned_alloc with a size that is no multiple of the alignment is fine since
 * C17/DR460 and in glibc; alignments below sizeof(void*) too. The block must be
 * big enough and really aligned. class: P */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	for (size_t a = 1; a <= 65536; a *= 2) {
		for (size_t n = 1; n < 5000; n = n * 3 + 1) {
			unsigned char *p = aligned_alloc(hz_n(a), hz_n(n));
			CHECK(p);
			CHECK((uintptr_t)p % a == 0);
			CHECK(malloc_usable_size(p) >= n);
			memset(p, 3, n);
			free(p);
		}
	}
	void *q = aligned_alloc(hz_n(48), 96);
	if (q) {
		CHECK((uintptr_t)q % 16 == 0);
		free(q);
	} /* invalid alignment: NULL or usable, no crash */
	q = memalign(hz_n(3), 10);
	if (q) {
		free(q);
	}
	q = memalign(hz_n(0), 10);
	if (q) {
		free(q);
	}
	return 0;
}
