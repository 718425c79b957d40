/* SPDX-License-Identifier: MIT */
/* A lock profiler defines pthread_mutex_lock, trylock and unlock, and allocates
 * in its wrappers. An allocator that uses these public names in malloc recurses
 * or deadlocks. class: G */
#include "hz.h"
static long calls;
static void note(void)
{
	__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	void *p = malloc(100), *q = malloc(5000);
	free(p);
	free(q);
}
#define WRAP(name)                                                             \
	int name(pthread_mutex_t *m)                                           \
	{                                                                      \
		static int (*real)(pthread_mutex_t *);                         \
		if (!real)                                                     \
			real = (int (*)(pthread_mutex_t *))dlsym(              \
				RTLD_NEXT, #name);                             \
		note();                                                        \
		return real(m);                                                \
	}
WRAP(pthread_mutex_lock)
WRAP(pthread_mutex_trylock)
WRAP(pthread_mutex_unlock)
static pthread_mutex_t mine = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *a)
{
	unsigned s = 1 + (unsigned)(uintptr_t)a;
	void *v[64] = {0};
	for (int i = 0; i < 20000; i++) {
		unsigned k = hz_rnd(&s) % 64;
		free(v[k]);
		v[k] = malloc(1 + hz_rnd(&s) % (k ? 4000 : 700000));
		CHECK(v[k]);
		if (i % 100 == 0) {
			pthread_mutex_lock(&mine);
			free(malloc(300));
			pthread_mutex_unlock(&mine);
		}
	}
	for (int i = 0; i < 64; i++) {
		free(v[i]);
	}
	return NULL;
}
int main(void)
{
	hz_limit(30);
	pthread_t t[3];
	for (uintptr_t i = 0; i < 3; i++) {
		CHECK(!pthread_create(&t[i], NULL, run, (void *)i));
	}
	for (int r = 0; r < 5; r++) {
		pid_t c = fork();
		CHECK(c >= 0);
		if (!c) {
			alarm(25);
			free(malloc(3000));
			_exit(0);
		}
		CHECK(hz_child_ok(c));
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], NULL);
	}
	CHECK(calls >= 1000);
	return 0;
}
