/* SPDX-License-Identifier: MIT */
/* A handler on an 8 KiB alternate stack (plus what the kernel's frame takes
 * beyond 2 KiB) allocates; the signal is raised by safe code, so this is
 * defined. Also as the thread's very first allocation. A guard page lies below
 * the stack: deep malloc paths hit it. class: P */
#include "hz.h"
static volatile int ran;
static void work(void)
{
	void *v[20];
	for (int i = 0; i < 20; i++) {
		v[i] = malloc((size_t)1 << i);
		CHECK(v[i]);
		*(char *)v[i] = 1;
	}
	for (int i = 0; i < 20; i++) {
		v[i] = realloc(v[i], 2000 + i);
		CHECK(v[i]);
	}
	for (int i = 0; i < 20; i++) {
		free(v[i]);
	}
	free(memalign(1 << 16, 100));
	free(calloc(1, 3 << 20));
	free(malloc((size_t)1 << 60));
}
static void handler(int s)
{
	(void)s;
	work();
	ran++;
}
static void *run(void *a)
{
	long frame = sysconf(_SC_MINSIGSTKSZ);
	size_t size = 8192 + (frame > 2048 ? (size_t)frame - 2048 : 0);
	size = (size + 4095) & ~(size_t)4095;
	char *m = mmap(NULL, size + 4096, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(m != MAP_FAILED);
	CHECK(!mprotect(m + 4096, size, PROT_READ | PROT_WRITE));
	stack_t ss = {.ss_sp = m + 4096, .ss_size = size};
	CHECK(!sigaltstack(&ss, NULL));
	for (int i = 0; i < 5; i++) {
		raise(SIGUSR1);
	}
	ss.ss_flags = SS_DISABLE;
	CHECK(!sigaltstack(&ss, NULL));
	munmap(m, size + 4096);
	return a;
}
int main(void)
{
	hz_limit(15);
	struct sigaction sa = {0};
	sa.sa_handler = handler;
	sa.sa_flags = SA_ONSTACK;
	CHECK(!sigaction(SIGUSR1, &sa, NULL));
	for (int i = 0; i < 20; i++) {
		pthread_t t;
		CHECK(!pthread_create(&t, NULL, run, NULL));
		pthread_join(t, NULL);
	}
	run(NULL);
	CHECK(ran == 105);
	return 0;
}
