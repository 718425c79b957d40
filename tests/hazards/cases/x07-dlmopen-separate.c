/* SPDX-License-Identifier: MIT */
/* Route: dlmopen(LM_ID_NEWLM): a second libc with a second heap (and no preload
 * in it). Used strictly inside its namespace it must work. class: P */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	for (int k = 0; k < 3; k++) {
		void *h = dlmopen(LM_ID_NEWLM, hz_path("plug.so"), RTLD_NOW);
		if (!h) {
			dprintf(2, "%s\n", dlerror());
			_exit(1);
		}
		HZ_FN(h, void *, pl_malloc, size_t);
		HZ_FN(h, void, pl_free, void *);
		HZ_FN(h, void *, pl_realloc, void *, size_t);
		HZ_FN(h, int, pl_libc_then_free, void);
		HZ_FN(h, int, pl_getline, const char *);
		for (int i = 0; i < 200; i++) {
			char *q = pl_malloc(1 + i * 313),
			     *mine = malloc(1 + i * 77);
			memset(q, 1, 1 + i * 313);
			q = pl_realloc(q, 5 + i * 700);
			CHECK(q[0] == 1);
			pl_free(q);
			free(mine);
		}
		CHECK(!pl_libc_then_free());
		CHECK(!pl_getline("/proc/self/maps"));
	}
	return 0;
}
