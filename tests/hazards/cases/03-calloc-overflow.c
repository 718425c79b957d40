/* SPDX-License-Identifier: MIT */
/* calloc(n,m) whose product wraps must fail with ENOMEM, never return a short
 * block. class: P */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	size_t t[][2] = {{SIZE_MAX, 2}, {2, SIZE_MAX}, {SIZE_MAX / 2 + 1, 2},
		{(size_t)1 << 33, (size_t)1 << 31}, {SIZE_MAX, SIZE_MAX},
		{SIZE_MAX / 4096 + 1, 4096}, {SIZE_MAX / 16 + 2, 16}};
	for (unsigned i = 0; i < sizeof t / sizeof *t; i++) {
		errno = 0;
		void *p = calloc(hz_n(t[i][0]), hz_n(t[i][1]));
		CHECK(p == NULL);
		CHECK(errno == ENOMEM);
	}
	char *z = calloc(hz_n(1000), hz_n(1000));
	CHECK(z);
	for (int i = 0; i < 1000000; i++) {
		CHECK(z[i] == 0);
	}
	free(z);
	return 0;
}
