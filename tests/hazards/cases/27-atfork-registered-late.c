/* SPDX-License-Identifier: MIT */
/* Fork handlers at awkward times. The program registers handlers that allocate
 * in .preinit_array, before the allocator's constructor has had a chance to
 * register its own; threads start allocating and the program forks still inside
 * a constructor, in the window between "usable" and "fork-safe"; and it
 * registers more handlers later. class: G */
#include "hz.h"
static volatile int stop;
static pthread_t t[2];
static int bad;
static void work(void)
{
	for (int i = 0; i < 30; i++) {
		free(malloc(100 + i * 1000));
	}
}
static void *churn(void *a)
{
	while (!stop) {
		void *p = malloc(500), *q = malloc(40000), *r = calloc(1, 9000);
		free(q);
		free(p);
		free(r);
	}
	return a;
}
static void fork_once(void)
{
	pid_t c = fork();
	if (!c) {
		alarm(25);
		work();
		_exit(0);
	}
	bad += c < 0 || !hz_child_ok(c);
}
static void first(int c, char **v, char **e)
{
	(void)c;
	(void)v;
	(void)e;
	hz_limit(50);
	bad += pthread_atfork(work, work, work) != 0;
}
__attribute__((section(".preinit_array"), used)) static void (*hook)(
	int, char **, char **) = first;
__attribute__((constructor(101))) static void early(void)
{
	for (int i = 0; i < 2; i++) {
		bad += pthread_create(&t[i], NULL, churn, NULL) != 0;
	}
	for (int i = 0; i < 20; i++) {
		fork_once();
	}
}
int main(void)
{
	for (int r = 0; r < 20; r++) {
		CHECK(!pthread_atfork(work, work, work));
		fork_once();
	}
	stop = 1;
	for (int i = 0; i < 2; i++) {
		pthread_join(t[i], NULL);
	}
	CHECK(bad == 0);
	return 0;
}
