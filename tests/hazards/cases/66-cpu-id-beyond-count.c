/* SPDX-License-Identifier: MIT */
/* Under cpusets the CPU id is larger than the number of CPUs that
 * sched_getaffinity or nproc tell. Started on the last CPU alone, then let
 * loose on all of them: tables sized by the count overrun. class: P */
#include "hz.h"
#include <sched.h>
static void *slot[128];
static void *run(void *a)
{
	unsigned s = 1 + (unsigned)(uintptr_t)a;
	for (int i = 0; i < 200000; i++) {
		unsigned n = 16 + hz_rnd(&s) % 600;
		unsigned *p = malloc(n);
		CHECK(p);
		p[0] = 0xabcd1234;
		p = __atomic_exchange_n(
			&slot[hz_rnd(&s) % 128], p, __ATOMIC_ACQ_REL);
		if (p) {
			CHECK(p[0] == 0xabcd1234);
			free(p);
		}
	}
	return NULL;
}
int main(int c, char **v)
{
	hz_limit(30);
	cpu_set_t all, last;
	if (c < 2) {
		int top = -1;
		CHECK(!sched_getaffinity(0, sizeof all, &all));
		if (CPU_COUNT(&all) < 2) {
			SKIP("one CPU only");
		}
		for (int i = 0; i < CPU_SETSIZE; i++) {
			if (CPU_ISSET(i, &all)) {
				top = i;
			}
		}
		CPU_ZERO(&last);
		CPU_SET(top, &last);
		CHECK(!sched_setaffinity(0, sizeof last, &last));
		/* the old mask travels in hexadecimal */
		char mask[2 * sizeof all + 1];
		for (size_t i = 0; i < sizeof all; i++) {
			sprintf(mask + 2 * i, "%02x",
				((unsigned char *)&all)[i]);
		}
		char *a[] = {v[0], mask, NULL};
		execv("/proc/self/exe", a);
		_exit(3);
	}
	for (size_t i = 0; i < sizeof all; i++) {
		unsigned byte;
		CHECK(sscanf(v[1] + 2 * i, "%2x", &byte) == 1);
		((unsigned char *)&all)[i] = byte;
	}
	pthread_t t[4];
	run(NULL);
	for (int r = 0; r < 2; r++) {
		for (uintptr_t i = 0; i < 4; i++) {
			CHECK(!pthread_create(&t[i], NULL, run, (void *)i));
		}
		for (int i = 0; i < 4; i++) {
			pthread_join(t[i], NULL);
		}
		CHECK(!sched_setaffinity(0, sizeof all, &all));
	}
	return 0;
}
