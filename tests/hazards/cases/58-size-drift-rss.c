/* SPDX-License-Identifier: MIT */
/* The live set stays at 24 MiB while the block sizes drift; of each generation
 * one block in 16 stays a little longer. Memory of one size must become usable
 * for the next: peak RSS stays below 5 times the live bytes. class: Q */
#include "hz.h"
enum { GENERATIONS = 14, LIVE = 24 << 20, STAY = 16, AGE = 3 };
static struct generation {
	char **v;
	long count;
} g[GENERATIONS];
static void drop(struct generation *old, int all)
{
	for (long i = 0; i < old->count; i++) {
		if (all || i % STAY) {
			free(old->v[i]);
			old->v[i] = NULL;
		}
	}
}
int main(void)
{
	hz_limit(50);
	long r0 = hz_rss_kb(), peak = 0;
	size_t size = 48;
	for (int k = 0; k < GENERATIONS; k++, size = size * 7 / 5) {
		if (k >= AGE) {
			drop(&g[k - AGE], 1);
		}
		g[k].count = LIVE / (long)size;
		g[k].v = malloc(g[k].count * sizeof *g[k].v);
		CHECK(g[k].v);
		/* the old generation goes while the new one comes */
		for (long i = 0; i < g[k].count; i++) {
			g[k].v[i] = malloc(size);
			CHECK(g[k].v[i]);
			memset(g[k].v[i], 1, size);
			if (k && i < g[k - 1].count && i % STAY) {
				free(g[k - 1].v[i]);
				g[k - 1].v[i] = NULL;
			}
		}
		if (k) {
			drop(&g[k - 1], 0);
		}
		long r = hz_rss_kb();
		if (r > peak) {
			peak = r;
		}
	}
	dprintf(2, "peak over live: %.2f\n", (peak - r0) * 1024.0 / LIVE);
	CHECK(peak - r0 < 5l * LIVE / 1024);
	return 0;
}
