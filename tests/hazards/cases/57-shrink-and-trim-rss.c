/* SPDX-License-Identifier: MIT */
/* Memory goes back: realloc-shrink of 300 MiB, and after freeing 200 MiB of
 * small blocks malloc_trim(0) brings RSS down. Agents and runtimes (Ruby, PHP,
 * glib) rely on malloc_trim. class:
 * G */
#include "hz.h"
int main(void)
{
	hz_limit(40);
	char *p = malloc(300u << 20);
	CHECK(p);
	memset(p, 1, 300u << 20);
	p = realloc(p, 100);
	CHECK(p);
	CHECK(hz_rss_kb() < 150 * 1024);
	free(p);
	enum { N = 400000 };
	char **v = malloc(N * sizeof *v);
	for (int i = 0; i < N; i++) {
		v[i] = malloc(500);
		memset(v[i], 1, 500);
	}
	long r1 = hz_rss_kb();
	CHECK(r1 > 190 * 1024);
	for (int i = 0; i < N; i++) {
		if (i % 4096) {
			free(v[i]);
		}
	}
	malloc_trim(0);
	CHECK(hz_rss_kb() < r1 / 2);
	return 0;
}
