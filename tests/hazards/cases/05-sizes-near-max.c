/* SPDX-License-Identifier: MIT */
/* Sizes from PTRDIFF_MAX to SIZE_MAX, in steps that meet every header, guard,
 * alignment and page rounding: each must fail with ENOMEM, because a sum that
 * wraps hands out a short block. pvalloc's rounding is the usual hole.
 * class: P */
#include "hz.h"
static void refused(void *p)
{
	CHECK(p == NULL);
	CHECK(errno == ENOMEM);
	errno = 0;
}
static void all_refuse(size_t n, char *old)
{
	void *q = (void *)0x5a;
	errno = 0;
	refused(malloc(hz_n(n)));
	refused(calloc(1, hz_n(n)));
	refused(calloc(hz_n(n), 1));
	refused(realloc(hz_hide(NULL), hz_n(n)));
	refused(realloc(hz_hide(old), hz_n(n)));
	refused(reallocarray(hz_hide(old), 1, hz_n(n)));
	refused(valloc(hz_n(n)));
	refused(pvalloc(hz_n(n)));
	for (size_t a = 16; a <= (size_t)1 << 22; a *= 16) {
		refused(memalign(a, hz_n(n)));
		refused(aligned_alloc(a, hz_n(n)));
		CHECK(posix_memalign(&q, a, hz_n(n)) == ENOMEM);
		CHECK(q == (void *)0x5a);
	}
	for (int i = 0; i < 100; i++) {
		CHECK(old[i] == 'k');
	}
}
int main(void)
{
	hz_limit(20);
	char *old = malloc(100);
	memset(old, 'k', 100);
	for (size_t d = 0; d < 300; d++) {
		all_refuse(SIZE_MAX - d, old);
	}
	for (size_t d = 300; d < (size_t)1 << 22; d = d * 5 / 4) {
		all_refuse(SIZE_MAX - d, old);
	}
	for (size_t d = 0; d < 300; d++) {
		all_refuse((size_t)PTRDIFF_MAX + 1 + d, old);
		all_refuse((size_t)PTRDIFF_MAX - d, old);
	}
	for (size_t d = 300; d < (size_t)1 << 22; d = d * 5 / 4) {
		all_refuse((size_t)PTRDIFF_MAX + d, old);
		all_refuse((size_t)PTRDIFF_MAX - d, old);
	}
	free(old);
	return 0;
}
