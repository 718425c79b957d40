/* SPDX-License-Identifier: MIT */
/* posix_memalign: EINVAL for alignments that are no power of two or no multiple
 * of sizeof(void*); *memptr untouched on failure; result aligned; size 0 fine.
 * class: P */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	size_t bad[] = {0, 1, 2, 3, 4, 7, 12, 24, 48, 100, SIZE_MAX,
		SIZE_MAX - 7, ((size_t)1 << 63) | 8};
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		void *p = (void *)0xabc0;
		CHECK(posix_memalign(&p, hz_n(bad[i]), 100) == EINVAL);
		CHECK(p == (void *)0xabc0);
	}
	for (size_t a = sizeof(void *); a <= ((size_t)1 << 22); a *= 2) {
		for (size_t n = 0; n < 5; n++) {
			size_t s[] = {0, 1, 17, 4097, 300000};
			void *p = NULL;
			CHECK(posix_memalign(&p, a, s[n]) == 0);
			CHECK(p && !((uintptr_t)p % a));
			memset(p, 1, s[n]);
			free(p);
		}
	}
	void *p = (void *)0xabc0;
	int r = posix_memalign(&p, (size_t)1 << 62, 8);
	CHECK(r == ENOMEM || r == EINVAL);
	CHECK(p == (void *)0xabc0);
	return 0;
}
