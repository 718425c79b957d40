/* SPDX-License-Identifier: MIT */
/* 6000 short-lived threads that allocate, leave some blocks to the main thread
 * and die: per-thread caches must be handed back; RSS and address space must
 * level off. class: Q */
#include "hz.h"
static void *gift;
static void *run(void *a)
{
	void *v[50];
	for (int i = 0; i < 50; i++) {
		v[i] = malloc(64 + i * 40);
		memset(v[i], 1, 64);
	}
	for (int i = 0; i < 50; i++) {
		free(v[i]);
	}
	gift = malloc(2000);
	return a;
}
static long vm(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long x = 0;
	if (f) {
		if (fscanf(f, "%ld", &x) != 1) {
			x = 0;
		}
		fclose(f);
	}
	return x * 4;
}
int main(void)
{
	hz_limit(55);
	long r0 = 0, v0 = 0;
	for (int i = 0; i < 6000; i++) {
		pthread_t t;
		CHECK(!pthread_create(&t, NULL, run, NULL));
		pthread_join(t, NULL);
		free(gift);
		if (i == 1500) {
			r0 = hz_rss_kb(), v0 = vm();
		}
	}
	CHECK(hz_rss_kb() - r0 < 16 * 1024);
	CHECK(vm() - v0 < 512 * 1024);
	return 0;
}
