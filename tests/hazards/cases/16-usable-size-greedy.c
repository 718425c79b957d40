/* SPDX-License-Identifier: MIT */
/* systemd-style growth: a program writes up to malloc_usable_size() and then
 * realloc()s, expecting all of it copied. Only de facto, but real (systemd,
 * libtorrent, RocksDB, Redis accounting). class: G */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	for (size_t n = 1; n < 300000; n = n * 5 / 3 + 1) {
		unsigned char *p = malloc(hz_n(n));
		size_t u = malloc_usable_size(p);
		memset(p, 0x5c, u);
		p = realloc(hz_hide(p), hz_n(u + 1));
		CHECK(p);
		for (size_t i = 0; i < u; i++) {
			CHECK(p[i] == 0x5c);
		}
		free(p);
	}
	return 0;
}
