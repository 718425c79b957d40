/* SPDX-License-Identifier: MIT */
/* Hit RLIMIT_AS in the running process: every call fails softly with ENOMEM (no
 * abort, no message loop), what was allocated is intact, and after freeing,
 * allocation works again. class: P */
#include "hz.h"
int main(void)
{
	hz_limit(30);
	free(malloc(100));
	FILE *f = fopen("/proc/self/statm", "r");
	long pg;
	CHECK(f && fscanf(f, "%ld", &pg) == 1);
	fclose(f);
	struct rlimit r = {(rlim_t)pg * 4096 + (200u << 20),
		(rlim_t)pg * 4096 + (200u << 20)};
	CHECK(!setrlimit(RLIMIT_AS, &r));
	size_t sz[] = {16, 200, 3000, 40000, 300000, 5 << 20};
	for (int rep = 0; rep < 2; rep++) {
		for (int s = 0; s < 6; s++) {
			void **head = NULL;
			long n = 0;
			for (;;) {
				errno = 0;
				void **p = malloc(sz[s]);
				if (!p) {
					CHECK(errno == ENOMEM);
					break;
				}
				p[0] = head;
				((char *)p)[sz[s] - 1] = 1;
				head = p;
				if (++n * (long)sz[s] > (400l << 20)) {
					SKIP("library had reserved address space beforehand");
				}
			}
			CHECK(n > 0);
			CHECK(n * (long)sz[s] > (20l << 20));
			errno = 0;
			void *q = calloc(1, 64 << 20);
			CHECK(!q);
			CHECK(realloc(head, 500 << 20) == NULL);
			while (head) {
				void **nx = *head;
				free(head);
				head = nx;
				n--;
			}
			CHECK(n == 0);
			void *again = malloc(1000);
			CHECK(again);
			free(again);
		}
	}
	return 0;
}
