/* SPDX-License-Identifier: MIT */
/* Threads whose only use of malloc is in the last rounds of the key
 * destructors, after the allocator's own destructor may have run: whatever the
 * allocator keeps per thread is created again there, and never taken back.
 * 8000 threads, half of which also free a block of the main thread that late:
 * RSS must level off. class: Q */
#include "hz.h"
static pthread_key_t key;
static int odd;
static void *gift;
static void late(void *p)
{
	uintptr_t round = (uintptr_t)p;
	if (round < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(key, (void *)(round + 1));
		return;
	}
	void *v[8];
	for (int i = 0; i < 8; i++) {
		v[i] = malloc(10 + i * 200);
		memset(v[i], 1, 10 + i * 200);
	}
	for (int i = 0; i < 8; i++) {
		free(v[i]);
	}
	if (odd) {
		free(gift);
		gift = NULL;
	}
}
static void *run(void *a)
{
	pthread_setspecific(key, (void *)1);
	return a;
}
int main(void)
{
	hz_limit(50);
	CHECK(!pthread_key_create(&key, late));
	long r0 = 0;
	for (int i = 0; i < 8000; i++) {
		pthread_t t;
		odd = i & 1;
		if (!gift) {
			gift = malloc(1000);
		}
		CHECK(!pthread_create(&t, NULL, run, NULL));
		pthread_join(t, NULL);
		if (i == 1000) {
			r0 = hz_rss_kb();
		}
	}
	CHECK(hz_rss_kb() - r0 < 8 * 1024);
	return 0;
}
