/* SPDX-License-Identifier: MIT */
/* Route: foreign blocks (libc heap through a DEEPBIND plugin) are freed,
 * measured and reallocated in a forked child, from a multithreaded parent.
 * class: P */
#include "hz.h"
static volatile int stop;
static void *churn(void *a)
{
	unsigned s = 3;
	void *v[32] = {0};
	while (!stop) {
		unsigned i = hz_rnd(&s) % 32;
		free(v[i]);
		v[i] = malloc(hz_rnd(&s) % 9000);
	}
	for (int i = 0; i < 32; i++) {
		free(v[i]);
	}
	return a;
}
int main(void)
{
	hz_limit(30);
	void *h = hz_open("plug.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	HZ_FN(h, void *, pl_malloc, size_t);
	pthread_t t;
	CHECK(!pthread_create(&t, NULL, churn, NULL));
	enum { N = 200 };
	unsigned char *v[N];
	for (int i = 0; i < N; i++) {
		v[i] = pl_malloc(10 + i * 97);
		CHECK(v[i]);
		memset(v[i], i, 10 + i * 97);
	}
	for (int r = 0; r < 10; r++) {
		pid_t c = fork();
		CHECK(c >= 0);
		if (!c) {
			alarm(25);
			for (int i = 0; i < N; i++) {
				size_t n = 10 + i * 97;
				CHECK(malloc_usable_size(v[i]) >= n);
				if (i & 1) {
					v[i] = realloc(v[i], 2 * n);
					CHECK(v[i] && v[i][n - 1] ==
							      (unsigned char)i);
				}
				free(v[i]);
			}
			_exit(0);
		}
		CHECK(hz_child_ok(c));
	}
	stop = 1;
	pthread_join(t, NULL);
	for (int i = 0; i < N; i++) {
		free(v[i]);
	}
	return 0;
}
