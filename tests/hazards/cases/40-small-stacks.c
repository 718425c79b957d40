/* SPDX-License-Identifier: MIT */
/* PTHREAD_STACK_MIN (16 KiB) threads and 16 KiB coroutine stacks: static TLS of
 * the allocator comes out of the thread stack, and malloc itself must be
 * frugal. class: P */
#include "hz.h"
#include <ucontext.h>
static void work(void)
{
	void *v[40];
	for (int i = 0; i < 40; i++) {
		v[i] = malloc((size_t)1 << (i % 22));
		CHECK(v[i]);
		*(char *)v[i] = 1;
	}
	for (int i = 0; i < 40; i++) {
		v[i] = realloc(v[i], 3000 + i);
	}
	for (int i = 0; i < 40; i++) {
		free(v[i]);
	}
	free(memalign(1 << 16, 100));
	free(malloc((size_t)1 << 60));
}
static void *run(void *a)
{
	work();
	return a;
}
static ucontext_t mainc, coc;
static void co(void)
{
	work();
}
int main(void)
{
	hz_limit(15);
	pthread_attr_t at;
	pthread_attr_init(&at);
	CHECK(!pthread_attr_setstacksize(&at, 16384));
	for (int i = 0; i < 50; i++) {
		pthread_t t;
		CHECK(!pthread_create(&t, &at, run, NULL));
		pthread_join(t, NULL);
	}
	char *m = mmap(NULL, 16384 + 8192, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(m != MAP_FAILED);
	CHECK(!mprotect(m + 4096, 16384, PROT_READ | PROT_WRITE));
	getcontext(&coc);
	coc.uc_stack.ss_sp = m + 4096;
	coc.uc_stack.ss_size = 16384;
	coc.uc_link = &mainc;
	makecontext(&coc, co, 0);
	swapcontext(&mainc, &coc);
	return 0;
}
