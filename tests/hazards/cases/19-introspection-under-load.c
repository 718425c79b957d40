/* SPDX-License-Identifier: MIT */
/* mallinfo2, malloc_trim, malloc_info, malloc_stats and mallopt while other
 * threads allocate and the program forks: no deadlock, no crash, no block lost,
 * and the child may call them too. class: G */
#include "hz.h"
static volatile int stop;
static void *churn(void *a)
{
	unsigned s = 1 + (unsigned)(uintptr_t)a;
	unsigned char *v[64] = {0};
	while (!stop) {
		unsigned i = hz_rnd(&s) % 64;
		CHECK(!v[i] || v[i][0] == i);
		free(v[i]);
		v[i] = malloc(1 + hz_rnd(&s) % (i ? 3000 : 300000));
		CHECK(v[i]);
		v[i][0] = i;
	}
	for (int i = 0; i < 64; i++) {
		free(v[i]);
	}
	return NULL;
}
static void ask(FILE *null)
{
	struct mallinfo2 m = mallinfo2();
	(void)m;
	int t = malloc_trim(0);
	CHECK(t == 0 || t == 1);
	CHECK(malloc_info(0, null) == 0);
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
	malloc_stats();
}
int main(void)
{
	hz_limit(40);
	FILE *null = fopen("/dev/null", "w");
	CHECK(null);
	int err = dup(2);
	CHECK(err > 2 && dup2(fileno(null), 2) == 2);
	pthread_t t[3];
	for (uintptr_t i = 0; i < 3; i++) {
		CHECK(!pthread_create(&t[i], NULL, churn, (void *)i));
	}
	int bad = 0;
	for (int r = 0; r < 100; r++) {
		ask(null);
		if (r % 10) {
			continue;
		}
		pid_t c = fork();
		CHECK(c >= 0);
		if (!c) {
			alarm(25);
			ask(null);
			_exit(0);
		}
		bad += !hz_child_ok(c);
	}
	stop = 1;
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], NULL);
	}
	dup2(err, 2);
	CHECK(bad == 0);
	return 0;
}
