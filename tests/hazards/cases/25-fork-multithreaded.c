/* SPDX-License-Identifier: MIT */
/* fork() while other threads are inside malloc/free. glibc keeps malloc usable
 * in the child; so must a replacement. The child also frees blocks that
 * belonged to vanished threads, and starts threads itself. class: G */
#include "hz.h"
static volatile int stop;
static void *shared[512];
static void *churn(void *a)
{
	unsigned s = 1 + (unsigned)(uintptr_t)a;
	void *v[64] = {0};
	while (!stop) {
		unsigned i = hz_rnd(&s) % 64;
		free(v[i]);
		size_t n = hz_rnd(&s) % 50 ? hz_rnd(&s) % 2000
					   : hz_rnd(&s) % 400000;
		v[i] = (hz_rnd(&s) & 15) ? malloc(n) : memalign(256, n);
		if (v[i]) {
			memset(v[i], 1, n < 64 ? n : 64);
		}
		if (!(hz_rnd(&s) % 64)) {
			if (!(hz_rnd(&s) % 2)) {
				usleep(300);
			}
			void *p = malloc(100);
			p = __atomic_exchange_n(
				&shared[hz_rnd(&s) % 512], p, __ATOMIC_ACQ_REL);
			free(p);
		}
	}
	for (int i = 0; i < 64; i++) {
		free(v[i]);
	}
	return NULL;
}
static void *one(void *a)
{
	void *p = malloc(5000);
	free(p);
	return a;
}
int main(void)
{
	hz_limit(57);
	pthread_t t[3];
	for (uintptr_t i = 0; i < 3; i++) {
		CHECK(!pthread_create(&t[i], NULL, churn, (void *)(i + 1)));
	}
	for (int r = 0; r < 30; r++) {
		pid_t c = fork();
		CHECK(c >= 0);
		if (!c) {
			alarm(25);
			for (int i = 0; i < 512; i++) {
				free(shared[i]);
			}
			void *v[300];
			for (int i = 0; i < 300; i++) {
				v[i] = malloc(i * 101);
				CHECK(v[i]);
				memset(v[i], 2, i * 101);
			}
			for (int i = 0; i < 300; i++) {
				free(v[i]);
			}
			free(malloc(3 << 20));
			pthread_t q;
			if (r % 10 == 0) {
				CHECK(!pthread_create(&q, NULL, one, NULL));
				pthread_join(q, NULL);
			}
			if (r % 25 == 0) {
				pid_t g = fork();
				if (!g) {
					free(malloc(1000));
					_exit(0);
				}
				CHECK(hz_child_ok(g));
			}
			_exit(0);
		}
		CHECK(hz_child_ok(c));
	}
	stop = 1;
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], NULL);
	}
	return 0;
}
