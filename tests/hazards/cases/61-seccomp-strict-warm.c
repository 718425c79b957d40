/* SPDX-License-Identifier: MIT */
/* After warm-up a strict sandbox kills every syscall but the classic heap set
 * (brk mmap munmap mremap mprotect madvise futex write exit). Late getrandom,
 * membarrier, rseq, sched_getaffinity, prctl, openat, clock reads by syscall,
 * process_madvise... = death. class: R */
#include "hz.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
int main(void)
{
	hz_limit(45);
	for (int i = 0; i < 3000; i++) {
		free(malloc(i * 10));
	}
	int ok[] = {SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect,
		SYS_madvise, SYS_futex, SYS_write, SYS_exit, SYS_exit_group,
		SYS_rt_sigreturn};
	enum { K = sizeof ok / sizeof *ok };
	struct sock_filter f[K + 3];
	f[0] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (int i = 0; i < K; i++) {
		f[1 + i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, ok[i], K - i, 0);
	}
	f[K + 1] = (struct sock_filter)BPF_STMT(
		BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	f[K + 2] = (struct sock_filter)BPF_STMT(
		BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog g = {K + 3, f};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &g)) {
		SKIP("no seccomp");
	}
	static void *v[5000];
	for (int r = 0; r < 5; r++) {
		for (int i = 0; i < 5000; i++) {
			v[i] = malloc(1 + (i * 37 + r * 101) % 9000);
			CHECK(v[i]);
			*(char *)v[i] = 1;
		}
		for (int i = 0; i < 5000; i++) {
			free(v[i]);
		}
		char *b = malloc(10 << 20);
		CHECK(b);
		b[0] = 1;
		b = realloc(b, 23 << 20);
		CHECK(b);
		free(b);
		free(memalign(1 << 21, 100));
	}
	_exit(0);
}
