/* SPDX-License-Identifier: MIT */
/* realloc(p,0): the glibc manual documents that it frees p and returns NULL; C
 * leaves it to the implementation (undefined in C23). Code written on Linux
 * relies on it: if the library answers with a fresh minimal block instead, "p =
 * realloc(p, 0)" style containers leak; if it returns NULL without freeing,
 * they leak more. class: G */
#include "hz.h"
int main(void)
{
	hz_limit(20);
	void *p = malloc(100);
	p = realloc(hz_hide(p), hz_n(0));
	CHECK(p == NULL);
	long r0 = hz_rss_kb();
	for (int i = 0; i < 200000; i++) {
		char *q = malloc(1000);
		q[0] = 1;
		q[999] = 1;
		CHECK(realloc(hz_hide(q), hz_n(0)) == NULL);
	}
	CHECK(hz_rss_kb() - r0 < 64 * 1024);
	return 0;
}
