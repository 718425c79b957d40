/* SPDX-License-Identifier: MIT */
/* Route: foreign blocks (libc heap through a DEEPBIND plugin) are freed through
 * the preload by other threads, concurrently with normal traffic. class: P */
#include "hz.h"
static void *(*pm)(size_t);
static void *slot[256];
static void *run(void *a)
{
	unsigned s = 3 + (unsigned)(uintptr_t)a;
	for (int i = 0; i < 20000; i++) {
		size_t n = 8 + hz_rnd(&s) % 3000;
		unsigned char *p = (hz_rnd(&s) & 1) ? pm(n) : malloc(n);
		CHECK(p);
		p[0] = 0xa7;
		p = __atomic_exchange_n(
			&slot[hz_rnd(&s) % 256], p, __ATOMIC_ACQ_REL);
		if (p) {
			CHECK(p[0] == 0xa7);
			if (hz_rnd(&s) & 1) {
				p = realloc(p, 16 + hz_rnd(&s) % 4000);
			}
			CHECK(p && p[0] == 0xa7);
			free(p);
		}
	}
	return NULL;
}
int main(void)
{
	hz_limit(20);
	void *h = hz_open("plug.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	pm = (void *(*)(size_t))dlsym(h, "pl_malloc");
	CHECK(pm);
	pthread_t t[4];
	for (uintptr_t i = 0; i < 4; i++) {
		CHECK(!pthread_create(&t[i], NULL, run, (void *)i));
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
	}
	return 0;
}
