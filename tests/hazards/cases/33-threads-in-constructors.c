/* SPDX-License-Identifier: MIT */
/* Threads that start in an ELF constructor (before main, maybe before the
 * allocator's own constructor) and allocate. class: P */
#include "hz.h"
static pthread_t t[4];
static void *got[4];
static void *run(void *a)
{
	void *v[100];
	for (int i = 0; i < 100; i++) {
		v[i] = malloc(i * 50 + 1);
	}
	for (int i = 0; i < 100; i++) {
		free(v[i]);
	}
	got[(intptr_t)a] = malloc(1000);
	memset(got[(intptr_t)a], 7, 1000);
	return NULL;
}
__attribute__((constructor(101))) static void early(void)
{
	for (intptr_t i = 0; i < 4; i++) {
		pthread_create(&t[i], NULL, run, (void *)i);
	}
}
int main(void)
{
	hz_limit(10);
	for (int i = 0; i < 4; i++) {
		CHECK(!pthread_join(t[i], NULL));
		CHECK(((char *)got[i])[999] == 7);
		got[i] = realloc(got[i], 9000);
		CHECK(((char *)got[i])[999] == 7);
		free(got[i]);
	}
	return 0;
}
