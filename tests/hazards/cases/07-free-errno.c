/* SPDX-License-Identifier: MIT */
/* free() must not change errno (POSIX 2024, glibc >= 2.33), for small, large,
 * aligned and foreign-thread blocks. class: P */
#include "hz.h"
static void *blk[3000];
static void *freer(void *a)
{
	(void)a;
	for (int i = 0; i < 3000; i++) {
		errno = 1000 + i;
		free(blk[i]);
		CHECK(errno == 1000 + i);
	}
	return NULL;
}
int main(void)
{
	hz_limit(20);
	for (int i = 0; i < 3000; i++) {
		size_t n = (size_t)1 << (4 + i % 20);
		blk[i] = (i % 7) ? malloc(n) : memalign(4096, n);
		CHECK(blk[i]);
		*(char *)blk[i] = 1;
	}
	pthread_t t;
	CHECK(!pthread_create(&t, NULL, freer, NULL));
	pthread_join(t, NULL);
	for (int i = 0; i < 300; i++) {
		char *p = malloc((size_t)64 << 20);
		CHECK(p);
		p[0] = 1;
		errno = 77;
		free(hz_hide(p));
		CHECK(errno == 77);
	}
	return 0;
}
