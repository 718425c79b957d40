/* SPDX-License-Identifier: MIT */
/* Blocks outlive their thread, and their thread's successor reuses the same
 * stack/TLS address: main frees, reallocs and measures them afterwards, from
 * several generations. class: P */
#include "hz.h"
static void *run(void *a)
{
	void **v = a;
	for (int i = 0; i < 50; i++) {
		v[i] = malloc(20 + i * 37);
		memset(v[i], i, 20 + i * 37);
	}
	return a;
}
int main(void)
{
	hz_limit(20);
	enum { G = 100 };
	static void *v[G][50];
	for (int g = 0; g < G; g++) {
		pthread_t t;
		CHECK(!pthread_create(&t, NULL, run, v[g]));
		pthread_join(t, NULL);
	}
	for (int i = 0; i < 50; i++) {
		for (int g = 0; g < G; g++) {
			unsigned char *p = v[g][i];
			CHECK(p[0] == i && p[19 + i * 37] == i);
			CHECK(malloc_usable_size(p) >= (size_t)(20 + i * 37));
			if (g & 1) {
				p = realloc(p, 4000);
				CHECK(p && p[0] == i);
			}
			free(p);
		}
	}
	return 0;
}
