/* SPDX-License-Identifier: MIT */
/* Route: inside a RTLD_DEEPBIND plugin libc functions (asprintf, strdup,
 * scandir, open_memstream) allocate through the global scope = preload, and the
 * plugin frees through its own scope = libc. The hwloc/TBB and php case. class:
 * P */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	void *h = hz_open("plug.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	HZ_FN(h, int, pl_libc_then_free, void);
	for (int i = 0; i < 100; i++) {
		CHECK(pl_libc_then_free() == 0);
	}
	return 0;
}
