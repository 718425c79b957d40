/* SPDX-License-Identifier: MIT */
/* atexit handlers, destructors and still-running threads allocate and free
 * after the allocator's own teardown may have run. class: G */
#include "hz.h"
static void *kept[64];
static void *churn(void *a)
{
	unsigned s = 1 + (unsigned)(uintptr_t)a;
	void *v[32] = {0};
	for (;;) {
		unsigned i = hz_rnd(&s) % 32;
		free(v[i]);
		v[i] = malloc(hz_rnd(&s) % (i ? 2000 : 400000));
	}
	return NULL;
}
static void work(void)
{
	for (int i = 0; i < 64; i++) {
		free(kept[i]);
		kept[i] = malloc(1 + i * 333);
		if (!kept[i]) {
			_exit(5);
		}
		memset(kept[i], 1, 1 + i * 333);
	}
	usleep(500);
}
__attribute__((destructor(101))) static void last(void)
{
	work();
	for (int i = 0; i < 64; i++) {
		free(kept[i]);
	}
}
__attribute__((destructor)) static void before(void)
{
	work();
}
int main(void)
{
	hz_limit(30);
	for (int r = 0; r < 40; r++) {
		pid_t c = fork();
		CHECK(c >= 0);
		if (!c) {
			alarm(20);
			pthread_t t;
			atexit(work);
			work();
			for (uintptr_t i = 0; i < 3; i++) {
				if (pthread_create(
					    &t, NULL, churn, (void *)i)) {
					_exit(6);
				}
			}
			usleep(200 * (r % 7));
			exit(0);
		}
		CHECK(hz_child_ok(c));
	}
	_exit(0);
}
