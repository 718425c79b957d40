/* SPDX-License-Identifier: MIT */
/* A 2 kHz timer signal lands inside malloc/free on several threads; the handler
 * only does async-signal-safe work. Restartable sequences, TLS recursion guards
 * and per-CPU caches must come out intact. class: P */
#include "hz.h"
static volatile long hits;
static void h(int s)
{
	(void)s;
	int e = errno;
	hits++;
	char b[256];
	memset(b, 1, sizeof b);
	(void)getpid();
	errno = e;
}
static void *run(void *a)
{
	unsigned s = 5 + (unsigned)(uintptr_t)a;
	unsigned char *v[128] = {0};
	unsigned n[128] = {0};
	for (int i = 0; i < 700000; i++) {
		unsigned k = hz_rnd(&s) % 128;
		if (v[k]) {
			CHECK(v[k][0] == k && v[k][n[k] - 1] == k);
			free(v[k]);
		}
		n[k] = 1 + hz_rnd(&s) % 1500;
		v[k] = malloc(n[k]);
		CHECK(v[k]);
		v[k][0] = v[k][n[k] - 1] = k;
	}
	for (int i = 0; i < 128; i++) {
		free(v[i]);
	}
	return NULL;
}
int main(void)
{
	hz_limit(40);
	struct sigaction sa = {0};
	sa.sa_handler = h;
	sa.sa_flags = SA_RESTART;
	sigaction(SIGUSR2, &sa, NULL);
	struct sigevent ev = {0};
	ev.sigev_notify = SIGEV_SIGNAL;
	ev.sigev_signo = SIGUSR2;
	timer_t tm;
	struct itimerspec it = {{0, 500000}, {0, 500000}};
	pthread_t t[3];
	for (uintptr_t i = 0; i < 3; i++) {
		CHECK(!pthread_create(&t[i], NULL, run, (void *)i));
	}
	sigset_t m;
	sigemptyset(&m);
	sigaddset(&m, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &m, NULL);
	CHECK(!timer_create(CLOCK_MONOTONIC, &ev, &tm));
	timer_settime(tm, 0, &it, NULL);
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], NULL);
	}
	CHECK(hits > 3);
	return 0;
}
