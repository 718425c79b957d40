/* SPDX-License-Identifier: MIT */
/* One thread allocates, another frees: blocks must flow back. RSS must stay
 * near the small live set. class: Q */
#include "hz.h"
enum { Q = 1024 };
static void *ring[Q];
static volatile unsigned head, tail;
static const unsigned total = 3000000;
static void *cons(void *a)
{
	while (tail < total) {
		if (tail == __atomic_load_n(&head, __ATOMIC_ACQUIRE)) {
			sched_yield();
			continue;
		}
		free(ring[tail % Q]);
		__atomic_store_n(&tail, tail + 1, __ATOMIC_RELEASE);
	}
	return a;
}
#include <sched.h>
int main(void)
{
	hz_limit(55);
	pthread_t t;
	CHECK(!pthread_create(&t, NULL, cons, NULL));
	unsigned s = 3;
	long peak = 0;
	while (head < total) {
		if (head - __atomic_load_n(&tail, __ATOMIC_ACQUIRE) >= Q) {
			sched_yield();
			continue;
		}
		size_t n = 16 + hz_rnd(&s) % 500;
		char *p = malloc(n);
		CHECK(p);
		p[0] = 1;
		p[n - 1] = 1;
		ring[head % Q] = p;
		__atomic_store_n(&head, head + 1, __ATOMIC_RELEASE);
		if (head % 100000 == 0) {
			long r = hz_rss_kb();
			if (r > peak) {
				peak = r;
			}
		}
	}
	pthread_join(t, NULL);
	CHECK(peak < 64 * 1024);
	return 0;
}
