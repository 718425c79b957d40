/* SPDX-License-Identifier: MIT */
/* malloc(0)/calloc(0,n)/realloc(NULL,0)/aligned zero: glibc hands out a unique,
 * freeable, non-NULL pointer; programs treat NULL as out-of-memory. class: G */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	void *v[64];
	for (int i = 0; i < 64; i++) {
		switch (i & 3) {
		case 0:
			v[i] = malloc(hz_n(0));
			break;
		case 1:
			v[i] = calloc(hz_n(0), 8);
			break;
		case 2:
			v[i] = realloc(hz_hide(NULL), hz_n(0));
			break;
		default:
			v[i] = NULL;
			CHECK(posix_memalign(&v[i], 64, hz_n(0)) == 0);
			break;
		}
		CHECK(v[i] != NULL);
		for (int j = 0; j < i; j++) {
			CHECK(v[i] != v[j]);
		}
	}
	for (int i = 0; i < 64; i++) {
		free(v[i]);
	}
	free(hz_hide(NULL));
	return 0;
}
