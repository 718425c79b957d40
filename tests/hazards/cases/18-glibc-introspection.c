/* SPDX-License-Identifier: MIT */
/* mallopt/mallinfo/mallinfo2/malloc_trim/malloc_info/malloc_stats: apps call
 * them freely. They must not crash, and must not act on another allocator's
 * state; malloc_info must emit something XML-like. class: G */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	void *p = malloc(100000);
	memset(p, 1, 100000);
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	mallopt(M_TRIM_THRESHOLD, 1 << 17);
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_MXFAST, 0);
	mallopt(M_PERTURB, 0);
	mallopt(-12345, 1);
	struct mallinfo2 m = mallinfo2();
	(void)m;
	int t = malloc_trim(0);
	CHECK(t == 0 || t == 1);
	char *buf = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&buf, &n);
	CHECK(f);
	CHECK(malloc_info(0, f) == 0);
	fclose(f);
	CHECK(n > 10 && strstr(buf, "<malloc"));
	free(buf);
	CHECK(malloc_info(7, stderr) != 0);
	int fd = dup(2), nul = open("/dev/null", O_WRONLY);
	dup2(nul, 2);
	malloc_stats();
	dup2(fd, 2);
	free(p);
	p = malloc(5000000);
	CHECK(p);
	free(p);
	malloc_trim(0);
	return 0;
}
