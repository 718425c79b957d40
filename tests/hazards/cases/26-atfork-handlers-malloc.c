/* SPDX-License-Identifier: MIT */
/* pthread_atfork handlers of the program allocate and free while other threads
 * churn. glibc takes its malloc locks after all prepare handlers; an allocator
 * that uses pthread_atfork itself only gets this right if it registered first.
 * class: G */
#include "hz.h"
static volatile int stop;
static void *keep[3];
static void prep(void)
{
	for (int i = 0; i < 50; i++) {
		free(malloc(100 + i * 1000));
	}
	keep[0] = malloc(100);
}
static void par(void)
{
	free(keep[0]);
	keep[1] = malloc(3000);
	free(keep[1]);
}
static void chi(void)
{
	free(keep[0]);
	keep[2] = calloc(10, 100);
	free(keep[2]);
	for (int i = 0; i < 50; i++) {
		free(malloc(100 + i * 1000));
	}
}
static void *churn(void *a)
{
	while (!stop) {
		void *p = malloc(500), *q = malloc(40000),
		     *r = memalign(4096, 5000);
		free(q);
		free(p);
		free(r);
		static __thread int k;
		if (++k % 200 == 0) {
			usleep(100);
		}
	}
	return a;
}
int main(void)
{
	hz_limit(50);
	CHECK(!pthread_atfork(prep, par, chi));
	pthread_t t[4];
	for (int i = 0; i < 4; i++) {
		CHECK(!pthread_create(&t[i], NULL, churn, NULL));
	}
	for (int r = 0; r < 40; r++) {
		pid_t c = fork();
		CHECK(c >= 0);
		if (!c) {
			alarm(25);
			free(malloc(777));
			_exit(0);
		}
		CHECK(hz_child_ok(c));
	}
	stop = 1;
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
	}
	return 0;
}
