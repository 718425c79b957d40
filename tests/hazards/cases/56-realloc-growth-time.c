/* SPDX-License-Identifier: MIT */
/* Growing one buffer 4 KiB at a time to 256 MiB: copying on every step is
 * quadratic (terabytes of memcpy). mremap/in-place growth or geometric slack is
 * needed. The bound is on CPU time, so that a busy machine does not matter.
 * class: Q */
#include "hz.h"
int main(void)
{
	hz_limit(55);
	double t0 = hz_cpu();
	char *p = NULL;
	for (size_t n = 4096; n <= (256u << 20); n += 4096) {
		p = realloc(p, n);
		CHECK(p);
		p[n - 1] = 1;
	}
	for (size_t n = 4096; n <= (256u << 20); n += 4096) {
		CHECK(p[n - 1] == 1);
	}
	free(p);
	CHECK(hz_cpu() - t0 < 25);
	return 0;
}
