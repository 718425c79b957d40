/* SPDX-License-Identifier: MIT */
/* Threads hop between CPUs (sched_setaffinity) while allocating and freeing
 * each other's blocks: per-CPU caches without proper restartable sections
 * corrupt here. class: P */
#include "hz.h"
#include <sched.h>
static void *slot[512];
static volatile int stop, done;
static void *run(void *a)
{
	unsigned s = 11 + (unsigned)(uintptr_t)a;
	for (int i = 0; i < 300000; i++) {
		size_t n = 16 + hz_rnd(&s) % 400;
		unsigned *p = malloc(n);
		CHECK(p);
		p[0] = 0xabcd1234;
		p[1] = (unsigned)n;
		p = __atomic_exchange_n(
			&slot[hz_rnd(&s) % 512], p, __ATOMIC_ACQ_REL);
		if (p) {
			CHECK(p[0] == 0xabcd1234);
			CHECK(malloc_usable_size(p) >= p[1]);
			p[0] = 0;
			free(p);
		}
	}
	__atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
	return NULL;
}
static void *mover(void *a)
{
	pthread_t *t = a;
	cpu_set_t all, c;
	sched_getaffinity(0, sizeof all, &all);
	unsigned k = 0;
	while (!stop) {
		for (int i = 0; i < 3; i++) {
			int cpu;
			do {
				cpu = k++ % CPU_SETSIZE;
			} while (!CPU_ISSET(cpu, &all));
			CPU_ZERO(&c);
			CPU_SET(cpu, &c);
			pthread_setaffinity_np(t[i], sizeof c, &c);
		}
		usleep(50);
	}
	return NULL;
}
int main(void)
{
	hz_limit(40);
	pthread_t t[3], m;
	for (uintptr_t i = 0; i < 3; i++) {
		CHECK(!pthread_create(&t[i], NULL, run, (void *)i));
	}
	CHECK(!pthread_create(&m, NULL, mover, t));
	while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < 3) {
		usleep(10000);
	}
	stop = 1;
	pthread_join(m, NULL);
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], NULL);
	}
	return 0;
}
