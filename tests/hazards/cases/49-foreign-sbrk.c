/* SPDX-License-Identifier: MIT */
/* The program moves the break itself between allocations; an allocator that
 * uses brk must notice and never hand out or release the program's part. class:
 * G */
#include "hz.h"
int main(void)
{
	hz_limit(15);
	enum { N = 300 };
	static char *mine[N], *v[N];
	for (int i = 0; i < N; i++) {
		v[i] = malloc(3000 + i * 50);
		CHECK(v[i]);
		memset(v[i], i, 3000);
		mine[i] = sbrk(4096);
		if (mine[i] == (void *)-1) {
			SKIP("no brk space");
		}
		memset(mine[i], ~i, 4096);
		if (i % 3 == 0) {
			free(v[i]);
			v[i] = NULL;
		}
	}
	for (int i = 0; i < N; i++) {
		for (int k = 0; k < 4096; k++) {
			CHECK(mine[i][k] == (char)~i);
		}
		if (v[i]) {
			for (int k = 0; k < 3000; k++) {
				CHECK(v[i][k] == (char)i);
			}
		}
	}
	malloc_trim(0);
	for (int i = 0; i < N; i++) {
		free(v[i]);
		CHECK(mine[i][4095] == (char)~i);
	}
	return 0;
}
