/* SPDX-License-Identifier: MIT */
/* Daemons close every descriptor and reopen data files on 0..2. The allocator
 * must not keep using a cached fd and must not print diagnostics ("large
 * alloc", munmap errors) into what is now somebody's data file. class: R */
#include "hz.h"
int main(void)
{
	hz_limit(20);
	char path[] = "/tmp/hz43-XXXXXX";
	int fd = mkstemp(path);
	CHECK(fd >= 0);
	unlink(path);
	int keep = fcntl(fd, F_DUPFD, 500);
	for (int i = 0; i < 500; i++) {
		close(i);
	}
	CHECK(dup(keep) == 0 && dup(keep) == 1 && dup(keep) == 2);
	void *p = malloc((size_t)2 << 30);
	free(p);
	p = malloc((size_t)1 << 55);
	free(p);
	p = malloc((size_t)6 << 30);
	free(p);
	p = realloc(malloc(10), (size_t)1 << 60);
	for (int i = 0; i < 3000; i++) {
		free(malloc(i * 100));
	}
	free(memalign(1 << 21, 1 << 22));
	struct stat st;
	CHECK(!fstat(keep, &st));
	if (st.st_size != 0) {
		_exit(1);
	}
	return 0;
}
