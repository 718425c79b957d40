/* SPDX-License-Identifier: MIT */
/* At main(): exactly one task, no extra descriptors, default signal state, no
 * blocked signals; and unshare(CLONE_NEWUSER), which needs a single-threaded
 * process, works. Also after a work-out of the allocator. class: R */
#include "hz.h"
#include <dirent.h>
#include <sched.h>
static int count(const char *d)
{
	int n = 0;
	DIR *x = opendir(d);
	if (!x) {
		return -1;
	}
	struct dirent *e;
	while ((e = readdir(x))) {
		if (e->d_name[0] != '.') {
			n++;
		}
	}
	closedir(x);
	return n;
}
int main(int c, char **v)
{
	hz_limit(15);
	if (c < 2) {
		for (int i = 3; i < 1024; i++) {
			close(i);
		}
		char *a[] = {v[0], "x", NULL};
		execv("/proc/self/exe", a);
		_exit(3);
	}
	sigset_t m;
	sigprocmask(SIG_SETMASK, NULL, &m);
	for (int s = 1; s < 32; s++) {
		struct sigaction sa;
		if (s == SIGKILL || s == SIGSTOP) {
			continue;
		}
		CHECK(!sigismember(&m, s));
		CHECK(!sigaction(s, NULL, &sa));
		CHECK(sa.sa_handler == SIG_DFL || sa.sa_handler == SIG_IGN);
	}
	stack_t ss;
	CHECK(!sigaltstack(NULL, &ss));
	CHECK(ss.ss_flags & SS_DISABLE);
	for (int r = 0; r < 2; r++) {
		CHECK(count("/proc/self/fd") == 4);
		CHECK(count("/proc/self/task") == 1);
		for (int i = 0; i < 20000; i++) {
			free(malloc(i * 3));
		}
		free(malloc(64 << 20));
	}
	if (unshare(CLONE_NEWUSER)) {
		CHECK(errno == EPERM || errno == ENOSPC || errno == ENOSYS);
	}
	return 0;
}
