/* SPDX-License-Identifier: MIT */
/*
 * hz.h - the few helpers that the hazard cases share.
 *
 * A case exits with 0 if the behaviour held, 77 if it does not apply here, and
 * anything else if the hazard was hit. Every case arms alarm(), so a deadlock
 * ends as SIGALRM, which the runner shows as HANG.
 */
#ifndef HZ_H
#define HZ_H
#ifndef _GNU_SOURCE
	#define _GNU_SOURCE 1
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(c)                                                               \
	do {                                                                   \
		int e_ = errno;                                                \
		if (!(c)) {                                                    \
			dprintf(2, "%s:%d: not held: %s (errno=%d)\n",         \
				__FILE__, __LINE__, #c, e_);                   \
			_exit(1);                                              \
		}                                                              \
	} while (0)
#define SKIP(why)                                                              \
	do {                                                                   \
		dprintf(2, "skip: %s\n", why);                                 \
		_exit(77);                                                     \
	} while (0)

static inline void hz_limit(unsigned sec)
{
	/* Three times the seconds of a quiet machine: only a hang may show. */
	alarm(3 * sec);
}
/* opaque copies so that the compiler can not fold allocation calls away */
static inline void *hz_hide(void *p)
{
	__asm__ volatile("" : "+r"(p) : : "memory");
	return p;
}
static inline size_t hz_n(size_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}
static inline long hz_rss_kb(void)
{
	char b[128];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return -1;
	}
	ssize_t n = read(fd, b, sizeof b - 1);
	close(fd);
	if (n <= 0) {
		return -1;
	}
	b[n] = 0;
	char *s = strchr(b, ' ');
	return s ? atol(s + 1) * (sysconf(_SC_PAGESIZE) / 1024) : -1;
}
/* CPU time of this process, seconds. */
static inline double hz_cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
static inline unsigned hz_rnd(unsigned *s)
{
	unsigned x = *s;
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return *s = x;
}
static inline int hz_child_ok(pid_t pid)
{
	int st;
	while (waitpid(pid, &st, 0) < 0) {
		if (errno != EINTR) {
			return 0;
		}
	}
	return WIFEXITED(st) && WEXITSTATUS(st) == 0;
}
/* The path of an object of support/, as the runner built it. */
static inline const char *hz_path(const char *name)
{
	static char path[4096];
	const char *dir = getenv("HZ_BIN");
	snprintf(path, sizeof path, "%s/%s", dir ? dir : ".", name);
	return path;
}
/* dlopen an object of support/. */
static inline void *hz_open(const char *name, int flags)
{
	void *h = dlopen(hz_path(name), flags);
	if (!h) {
		dprintf(2, "%s\n", dlerror());
		_exit(1);
	}
	return h;
}
/* Declare the function pointer NAME and look it up in H. */
#define HZ_FN(h, ret, name, ...)                                               \
	ret (*name)(__VA_ARGS__) = (ret(*)(__VA_ARGS__))dlsym(h, #name);       \
	CHECK(name)
#endif
