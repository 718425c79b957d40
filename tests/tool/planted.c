/* SPDX-License-Identifier: MIT */
/*
 * A program whose allocations are known: report.sh holds the reports to them.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

static void *volatile sink;
static void *held[200];

static NOINLINE void planted_leak(void)
{
	for (int i = 0; i < 100; i++) {
		sink = malloc(1000);
	}
	__asm__ volatile("");
}

static NOINLINE void planted_pairs(void)
{
	for (int i = 0; i < 5000; i++) {
		sink = malloc(64);
		free(sink);
	}
}

static NOINLINE void planted_peak(void)
{
	for (int i = 0; i < 200; i++) {
		held[i] = malloc(4096);
	}
	__asm__ volatile("");
}

static NOINLINE void planted_realloc(void)
{
	void *p = malloc(16);

	for (size_t i = 1; i <= 10; i++) {
		p = realloc(p, i << 12);
	}
	free(p);
}

static NOINLINE int planted_recursion(int depth)
{
	int below;

	if (depth == 0) {
		sink = malloc(77);
		return 0;
	}
	below = planted_recursion(depth - 1);
	__asm__ volatile("" : "+r"(below));
	return below + 1;
}

static inline __attribute__((always_inline)) void planted_inline(void)
{
	sink = calloc(3, 11);
}

static NOINLINE void planted_outer(void)
{
	planted_inline();
	__asm__ volatile("");
}

static void *planted_thread(void *unused)
{
	for (int i = 0; i < 200; i++) {
		free(held[i]);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	planted_leak();
	planted_pairs();
	planted_realloc();
	planted_recursion(40);
	planted_outer();
	planted_peak();
	if (pthread_create(&thread, NULL, planted_thread, NULL) != 0) {
		return 1;
	}
	pthread_join(thread, NULL);
	return 0;
}
