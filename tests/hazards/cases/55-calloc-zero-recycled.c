/* SPDX-License-Identifier: MIT */
/* calloc from recycled, purged (MADV_FREE/DONTNEED) and cross-thread freed
 * memory is all zero, for every size. class: P */
#include "hz.h"
static void *dirty(void *a)
{
	unsigned s = 1;
	for (int i = 0; i < 400; i++) {
		size_t n = 1 + hz_rnd(&s) % 3000000;
		void *p = malloc(n);
		if (p) {
			memset(p, 0xa5, n);
			free(p);
		}
	}
	return a;
}
int main(void)
{
	hz_limit(40);
	unsigned s = 77;
	for (int r = 0; r < 10; r++) {
		pthread_t t;
		CHECK(!pthread_create(&t, NULL, dirty, NULL));
		dirty(NULL);
		pthread_join(t, NULL);
		if (r == 5) {
			usleep(300000);
		}
		for (int i = 0; i < 200; i++) {
			size_t n = 1 + hz_rnd(&s) % (i % 4 ? 5000 : 2000000);
			unsigned char *z = calloc(1, n);
			CHECK(z);
			for (size_t k = 0; k < n; k++) {
				if (z[k]) {
					_exit(2);
				}
			}
			memset(z, 0x5a, n);
			free(z);
		}
	}
	return 0;
}
