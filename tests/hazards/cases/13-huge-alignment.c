/* SPDX-License-Identifier: MIT */
/* Alignments of 2 MiB .. 1 GiB: sized headers and span maps often break here.
 * class: P */
#include "hz.h"
int main(void)
{
	hz_limit(20);
	for (size_t a = (size_t)1 << 16; a <= (size_t)1 << 30; a *= 2) {
		char *p = NULL;
		CHECK(posix_memalign((void **)&p, a, 4096) == 0);
		CHECK(!((uintptr_t)p % a));
		memset(p, 1, 4096);
		char *q = memalign(a, a > (1 << 26) ? 100 : 3 * a);
		CHECK(q && !((uintptr_t)q % a));
		q[0] = 1;
		p = realloc(hz_hide(p), 10000);
		CHECK(p);
		for (int i = 0; i < 4096; i++) {
			CHECK(p[i] == 1);
		}
		free(p);
		free(q);
	}
	return 0;
}
