/* SPDX-License-Identifier: MIT */
/* All application threads block SIGUSR1 and wait for it with sigtimedwait. A
 * helper thread of the allocator with an open mask would take the
 * process-directed signal and die of the default action. class: R */
#include "hz.h"
static void *run(void *a)
{
	for (int i = 0; i < 5000; i++) {
		free(malloc(i * 11));
	}
	return a;
}
int main(void)
{
	hz_limit(15);
	sigset_t s;
	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &s, NULL);
	for (int r = 0; r < 50; r++) {
		pthread_t t;
		CHECK(!pthread_create(&t, NULL, run, NULL));
		pthread_join(t, NULL);
		free(malloc(5 << 20));
		kill(getpid(), SIGUSR1);
		struct timespec ts = {2, 0};
		CHECK(sigtimedwait(&s, NULL, &ts) == SIGUSR1);
	}
	return 0;
}
