/* SPDX-License-Identifier: MIT */
/* vm.max_map_count reached: munmap/mprotect that would split a mapping fail
 * with ENOMEM. free() must stay silent and keep errno, malloc must return
 * memory or NULL, data must stay intact. class:
 * R */
#include "hz.h"
int main(void)
{
	hz_limit(40);
	FILE *f = fopen("/proc/sys/vm/max_map_count", "r");
	long lim = 65530;
	if (f) {
		if (fscanf(f, "%ld", &lim) != 1) {
			lim = 65530;
		}
		fclose(f);
	}
	if (lim > 300000) {
		SKIP("max_map_count too high to exhaust");
	}
	enum { N = 600 };
	static char *v[N];
	for (int i = 0; i < N; i++) {
		v[i] = malloc((size_t)(200 + i) << 10);
		CHECK(v[i]);
		memset(v[i], i, 64);
	}
	size_t len = (size_t)(lim + 4096) * 4096 * 2;
	char *m = mmap(NULL, len, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(m != MAP_FAILED);
	long n = 0;
	while (n < lim + 1000 && !mprotect(m + n * 8192, 4096, PROT_READ)) {
		n++;
	}
	for (int i = 0; i < N; i += 2) {
		CHECK(v[i][63] == (char)i);
		errno = 99;
		free(v[i]);
		CHECK(errno == 99);
		v[i] = NULL;
	}
	long okc = 0;
	for (int i = 0; i < 3000; i++) {
		size_t s = (size_t)(i % 500 + 1) << 9;
		char *p = malloc(s);
		if (p) {
			memset(p, 1, s);
			okc++;
			if (i % 3) {
				free(p);
			}
		}
	}
	CHECK(okc > 500);
	for (int i = 1; i < N; i += 2) {
		CHECK(v[i][0] == (char)i && v[i][63] == (char)i);
		v[i] = realloc(v[i], 100);
		if (v[i]) {
			CHECK(v[i][63] == (char)i);
		}
		errno = 98;
		free(v[i]);
		CHECK(errno == 98);
	}
	munmap(m, len);
	char *p = malloc(50 << 20);
	CHECK(p);
	p[0] = 1;
	free(p);
	return 0;
}
