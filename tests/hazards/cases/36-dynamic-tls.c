/* SPDX-License-Identifier: MIT */
/* A dlopen'ed object with large TLS: ld.so allocates each thread's TLS lazily
 * through the interposed malloc/memalign and frees it after the last destructor
 * of the thread. Must not crash nor leak over 4000 threads. class: P */
#include "hz.h"
static void (*touch)(int);
static void *run(void *a)
{
	touch(3);
	free(malloc(10));
	return a;
}
static void *run2(void *a)
{
	touch(4);
	return a;
}
int main(void)
{
	hz_limit(40);
	void *h = hz_open("bigtls.so", RTLD_NOW);
	touch = (void (*)(int))dlsym(h, "hz_touch");
	long r0 = 0;
	for (int i = 0; i < 2000; i++) {
		pthread_t t[2];
		CHECK(!pthread_create(&t[0], NULL, run, NULL));
		CHECK(!pthread_create(&t[1], NULL, run2, NULL));
		pthread_join(t[0], NULL);
		pthread_join(t[1], NULL);
		if (i == 200) {
			r0 = hz_rss_kb();
		}
	}
	CHECK(hz_rss_kb() - r0 < 24 * 1024);
	dlclose(h);
	return 0;
}
