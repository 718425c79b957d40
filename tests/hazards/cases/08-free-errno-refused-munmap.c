/* SPDX-License-Identifier: MIT */
/* A sandbox that answers EPERM to munmap and madvise, later to mprotect too:
 * free() keeps errno, nothing retries for ever, calloc still gives zeros, and
 * malloc gives memory or fails softly. class: P */
#include "hz.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
static int refuse(int nr1, int nr2)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr1, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr2, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog g = {sizeof f / sizeof *f, f};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &g);
}
enum { N = 2000 };
static unsigned char *v[N];
static size_t size_of(int i)
{
	return i % 50 ? 1 + i * 37 % 70000 : (size_t)(1 + i) << 10;
}
static void fill(int must)
{
	for (int i = 0; i < N; i++) {
		size_t n = size_of(i);
		errno = 0;
		v[i] = i % 3 ? malloc(n) : calloc(1, n);
		if (!v[i]) {
			CHECK(!must && errno == ENOMEM);
			continue;
		}
		if (i % 3 == 0) {
			for (size_t k = 0; k < n; k++) {
				CHECK(v[i][k] == 0);
			}
		}
		memset(v[i], 0xa5, n);
	}
}
static void drop(void)
{
	for (int i = 0; i < N; i++) {
		errno = 1000 + i;
		free(v[i]);
		CHECK(errno == 1000 + i);
	}
	malloc_trim(0);
}
int main(void)
{
	hz_limit(30);
	fill(1);
	if (refuse(SYS_munmap, SYS_madvise)) {
		SKIP("no seccomp");
	}
	drop();
	for (int r = 0; r < 3; r++) {
		fill(1);
		drop();
	}
	fill(1);
	CHECK(!refuse(SYS_mprotect, SYS_mprotect));
	drop();
	for (int r = 0; r < 3; r++) {
		fill(0);
		drop();
	}
	_exit(0);
}
