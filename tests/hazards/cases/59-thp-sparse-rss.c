/* SPDX-License-Identifier: MIT */
/* Transparent huge pages: 300 blocks of 1 MiB of which only the first page is
 * used. An allocator that asks for huge pages by itself, or purges below them,
 * makes each touched page cost 2 MiB. class: Q */
#include "hz.h"
int main(void)
{
	hz_limit(15);
	char mode[100] = "";
	int fd = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY);
	if (fd >= 0) {
		if (read(fd, mode, sizeof mode - 1) < 0) {
			mode[0] = 0;
		}
		close(fd);
	}
	if (strstr(mode, "[always]")) {
		SKIP("huge pages are forced on this system");
	}
	enum { N = 300 };
	static char *v[N];
	long r0 = hz_rss_kb();
	for (int i = 0; i < N; i++) {
		v[i] = malloc(1 << 20);
		CHECK(v[i]);
		v[i][0] = 1;
	}
	CHECK(hz_rss_kb() - r0 < 16 * 1024);
	for (int i = 0; i < N; i++) {
		free(v[i]);
	}
	/* small blocks, dense, then sparse: half of them purged */
	enum { M = 100000 };
	char **w = malloc(M * sizeof *w);
	CHECK(w);
	for (int i = 0; i < M; i++) {
		w[i] = malloc(400);
		CHECK(w[i]);
		memset(w[i], 1, 400);
	}
	CHECK(hz_rss_kb() - r0 < 80 * 1024);
	return 0;
}
