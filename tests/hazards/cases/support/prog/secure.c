/* SPDX-License-Identifier: MIT */
/* A set-uid program that loads the library named by its argument and uses it.
 * Exit status 77: the system did not start it in secure mode. */
#include "hz.h"
#include <sys/auxv.h>
int main(int c, char **v)
{
	hz_limit(10);
	if (c < 2) {
		return 2;
	}
	if (!getauxval(AT_SECURE)) {
		SKIP("set-uid bits have no effect here");
	}
	void *h = dlopen(v[1], RTLD_NOW | RTLD_GLOBAL);
	if (!h) {
		dprintf(2, "%s\n", dlerror());
		return 77;
	}
	HZ_FN(h, void *, malloc, size_t);
	HZ_FN(h, void, free, void *);
	for (int i = 0; i < 1000; i++) {
		free(malloc(1 + i * 10));
	}
	free(malloc(64 << 20));
	return 0;
}
