/* SPDX-License-Identifier: MIT */
/* Route: getline and getdelim grow a buffer of a RTLD_DEEPBIND plugin: libc
 * malloc, the preload's realloc through libc's own binding, libc free.
 * class: P */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	void *h = hz_open("plug.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	HZ_FN(h, int, pl_getline, const char *);
	HZ_FN(h, void *, pl_malloc, size_t);
	HZ_FN(h, void, pl_free, void *);
	for (int i = 0; i < 50; i++) {
		CHECK(pl_getline("/proc/self/maps") == 0);
		/* the same with the host as the caller of getline */
		size_t cap = 4;
		char *line = pl_malloc(cap);
		FILE *f = fopen("/proc/self/maps", "r");
		CHECK(f && line);
		while (getline(&line, &cap, f) > 0) {
			CHECK(strlen(line) < cap);
		}
		fclose(f);
		pl_free(line);
	}
	return 0;
}
