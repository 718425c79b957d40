/* SPDX-License-Identifier: MIT */
/* Browser-style sandbox: mmap only with ordinary flags (PRIVATE ANONYMOUS
 * NORESERVE FIXED STACK DENYWRITE LOCKED), mprotect only R/W/X, madvise only
 * DONTNEED/FREE/NORMAL/WILLNEED/RANDOM/REMOVE. MAP_HUGETLB, MAP_POPULATE,
 * MAP_FIXED_NOREPLACE, MADV_HUGEPAGE, MADV_COLLAPSE, DONTDUMP die. class: R */
#include "hz.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#define NR offsetof(struct seccomp_data, nr)
/* The jump offset from instruction I to instruction TARGET. */
#define TO(i, target) ((target) - (i)-1)
#define ARG(n)        (offsetof(struct seccomp_data, args) + 8 * (n))
static void *run(void *a)
{
	static __thread void *v[3000];
	for (int i = 0; i < 3000; i++) {
		v[i] = malloc(i * 9 + 1);
	}
	for (int i = 0; i < 3000; i++) {
		free(v[i]);
	}
	free(calloc(1, 30 << 20));
	return a;
}
int main(void)
{
	hz_limit(15);
	for (int i = 0; i < 3000; i++) {
		free(malloc(i * 10));
	}
	unsigned okf = MAP_SHARED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK |
		       MAP_NORESERVE | MAP_FIXED | MAP_DENYWRITE | MAP_LOCKED;
	unsigned okp = PROT_READ | PROT_WRITE | PROT_EXEC;
	enum { TRAP = 15, ALLOW = 16 };
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NR),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG(3)),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, ~okf, TO(3, TRAP),
			TO(3, ALLOW)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG(2)),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, ~okp, TO(6, TRAP),
			TO(6, ALLOW)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0,
			TO(7, ALLOW)),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARG(2)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_DONTNEED, TO(9, ALLOW),
			0),
		BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, MADV_FREE, TO(10, ALLOW), 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_NORMAL, TO(11, ALLOW),
			0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_WILLNEED,
			TO(12, ALLOW), 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_RANDOM, TO(13, ALLOW),
			0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_REMOVE, TO(14, ALLOW),
			0),
		[TRAP] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		[ALLOW] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog g = {sizeof f / sizeof *f, f};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &g)) {
		SKIP("no seccomp");
	}
	run(NULL);
	pthread_t t;
	CHECK(!pthread_create(&t, NULL, run, NULL));
	pthread_join(t, NULL);
	for (int i = 0; i < 30; i++) {
		char *b = malloc((size_t)i << 21);
		if (b) {
			b[0] = 1;
		}
		free(b);
	}
	free(memalign(1 << 21, 8 << 20));
	malloc_trim(0);
	_exit(0);
}
