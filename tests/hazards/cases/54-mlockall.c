/* SPDX-License-Identifier: MIT */
/* mlockall: MADV_DONTNEED fails on locked pages, so calloc must not take purged
 * memory for zero; and MCL_FUTURE populates every new mapping, so large
 * writable reservations become resident at once. class: P */
#include "hz.h"
static void *run(void *a)
{
	unsigned s = 7;
	for (int r = 0; r < 300; r++) {
		size_t n = 1 + hz_rnd(&s) % (r % 10 ? 20000 : 1500000);
		unsigned char *p = malloc(n);
		CHECK(p);
		memset(p, 0xa5, n);
		free(p);
		if (r % 50 == 0) {
			malloc_trim(0);
		}
		p = calloc(1, n);
		CHECK(p);
		for (size_t i = 0; i < n; i++) {
			CHECK(p[i] == 0);
		}
		memset(p, 0x5a, n);
		free(p);
	}
	return a;
}
int main(void)
{
	hz_limit(30);
	struct rlimit r = {RLIM_INFINITY, RLIM_INFINITY};
	setrlimit(RLIMIT_MEMLOCK, &r);
	free(malloc(100));
	if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
		SKIP("mlockall is refused");
	}
	long r0 = hz_rss_kb();
	run(NULL);
	pthread_attr_t at;
	pthread_attr_init(&at);
	CHECK(!pthread_attr_setstacksize(&at, 65536));
	for (int i = 0; i < 4; i++) {
		pthread_t t;
		CHECK(!pthread_create(&t, &at, run, NULL));
		pthread_join(t, NULL);
	}
	CHECK(hz_rss_kb() - r0 < 128 * 1024);
	return 0;
}
