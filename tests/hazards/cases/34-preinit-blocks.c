/* SPDX-License-Identifier: MIT */
/* Blocks obtained in .preinit_array (before any constructor, i.e. possibly from
 * a bootstrap arena) are realloc'ed, measured and freed later from main and
 * from another thread. class: P */
#include "hz.h"
static char *v[40];
static void *al;
static void early(int c, char **a, char **e)
{
	(void)c;
	(void)a;
	(void)e;
	for (int i = 0; i < 40; i++) {
		v[i] = i & 1 ? malloc(1 + i * 300) : calloc(1, 1 + i * 300);
		if (v[i]) {
			memset(v[i], i, 1 + i * 300);
		}
	}
	al = memalign(4096, 100);
	setenv("HZ_EARLY", "1", 1);
}
__attribute__((section(".preinit_array"), used)) static void (*hook)(
	int, char **, char **) = early;
static void *other(void *x)
{
	for (int i = 0; i < 20; i++) {
		free(v[i]);
	}
	free(al);
	return x;
}
int main(void)
{
	hz_limit(10);
	for (int i = 0; i < 40; i++) {
		CHECK(v[i]);
		CHECK(malloc_usable_size(v[i]) >= (size_t)(1 + i * 300));
		v[i] = realloc(v[i], 2 + i * 700);
		CHECK(v[i]);
		for (int k = 0; k < 1 + i * 300; k++) {
			CHECK(v[i][k] == i);
		}
	}
	pthread_t t;
	CHECK(!pthread_create(&t, NULL, other, NULL));
	pthread_join(t, NULL);
	for (int i = 20; i < 40; i++) {
		free(v[i]);
	}
	unsetenv("HZ_EARLY");
	return 0;
}
