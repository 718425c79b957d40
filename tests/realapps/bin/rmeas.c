// SPDX-License-Identifier: MIT
/* rmeas - run a command, measure wall/user/sys time, peak RSS, last RSS.
 *
 * usage: rmeas [-o OUT] [-t] [-T secs] [-i ms] [-l LIBPATH] [-e K=V]... -- cmd
 * args...
 *
 *   -e K=V   set in the child's environment only (so LD_PRELOAD never touches
 *            rmeas or the load generator)
 *   -l PATH  check that PATH (by its base name) gets mapped in the child
 *   -t       tree mode: sample the sum of RSS over child + all descendants
 *   -T secs  kill the child after secs (reported as timeout=1)
 *   -o OUT   write one line of key=value to OUT (default: fd 2)
 *
 * Written for this project.  GNU time is avoided because ru_maxrss is
 * inherited over exec from the forking process: this binary is tiny and
 * static so the floor it adds is < 1 MiB.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static long statfield(pid_t pid, const char *key)
{
	char p[64], b[8192];
	snprintf(p, sizeof p, "/proc/%d/status", pid);
	int fd = open(p, O_RDONLY);
	if (fd < 0)
		return -1;
	ssize_t n = read(fd, b, sizeof b - 1);
	close(fd);
	if (n <= 0)
		return -1;
	b[n] = 0;
	char *s = strstr(b, key);
	return s ? atol(s + strlen(key)) : -1;
}

static long treesum(pid_t pid, int depth)
{
	long s = statfield(pid, "VmRSS:");
	if (s < 0)
		s = 0;
	if (depth > 8)
		return s;
	char p[96], b[16384];
	snprintf(p, sizeof p, "/proc/%d/task/%d/children", pid, pid);
	int fd = open(p, O_RDONLY);
	if (fd < 0)
		return s;
	ssize_t n = read(fd, b, sizeof b - 1);
	close(fd);
	if (n <= 0)
		return s;
	b[n] = 0;
	for (char *q = strtok(b, " \n"); q;) {
		pid_t c = atoi(q);
		char *save = q + strlen(q) + 1;
		if (c > 0)
			s += treesum(c, depth + 1);
		if (save >= b + n)
			break;
		q = strtok(save, " \n");
	}
	return s;
}

static int mapped(pid_t pid, const char *base)
{
	char p[64], line[1024];
	snprintf(p, sizeof p, "/proc/%d/maps", pid);
	FILE *f = fopen(p, "r");
	int r = 0;
	if (!f)
		return -1;
	while (fgets(line, sizeof line, f))
		if (strstr(line, base)) {
			r = 1;
			break;
		}
	fclose(f);
	return r;
}

int main(int argc, char **argv)
{
	const char *out = NULL, *lib = NULL;
	char *envs[64];
	int ne = 0, tree = 0, o, ms = 20;
	double tmo = 0;
	while ((o = getopt(argc, argv, "+o:l:e:T:i:t")) != -1)
		switch (o) {
		case 'o':
			out = optarg;
			break;
		case 'l':
			lib = *optarg ? optarg : NULL;
			break;
		case 'e':
			if (ne < 64)
				envs[ne++] = optarg;
			break;
		case 'T':
			tmo = atof(optarg);
			break;
		case 'i':
			ms = atoi(optarg);
			break;
		case 't':
			tree = 1;
			break;
		default:
			return 99;
		}
	if (optind >= argc)
		return 99;
	/* the name shown in /proc/PID/maps is that of the resolved file */
	char *base = NULL;
	if (lib) {
		char *r = realpath(lib, NULL);
		base = strdup(basename(r ? r : strdup(lib)));
	}
	double t0 = now();
	pid_t pid = fork();
	if (pid < 0)
		return 98;
	if (pid == 0) {
		for (int i = 0; i < ne; i++)
			putenv(envs[i]);
		execvp(argv[optind], argv + optind);
		fprintf(stderr, "rmeas: exec %s: %s\n", argv[optind],
			strerror(errno));
		_exit(127);
	}
	int st = 0, loaded = -1, timeout = 0;
	long last = 0, peaktree = 0, hwm = 0;
	struct rusage ru;
	memset(&ru, 0, sizeof ru);
	double t1;
	sigset_t ss;
	sigemptyset(&ss);
	sigaddset(&ss, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ss, NULL);
	for (int k = 0;; k++) {
		pid_t w = wait4(pid, &st, WNOHANG, &ru);
		t1 = now();
		if (w == pid)
			break;
		long v = tree ? treesum(pid, 0) : statfield(pid, "VmRSS:");
		if (v > 0)
			last = v;
		if (v > peaktree)
			peaktree = v;
		if (!tree) {
			long h = statfield(pid, "VmHWM:");
			if (h > hwm)
				hwm = h;
		}
		if (base && loaded != 1 && k < 200) {
			int m = mapped(pid, base);
			if (m >= 0 && (m == 1 || t1 - t0 > 0.02))
				loaded = m;
		}
		if (tmo > 0 && t1 - t0 > tmo && !timeout) {
			timeout = 1;
			kill(pid, SIGKILL);
		}
		/* sleep, but wake at once when the child exits */
		struct timespec d = {0, (k < 5 ? 2 : ms) * 1000000L};
		sigtimedwait(&ss, NULL, &d);
	}
	FILE *f = out ? fopen(out, "w") : stderr;
	if (!f)
		f = stderr;
	fprintf(f,
		"wall=%.4f user=%.4f sys=%.4f maxrss_kb=%ld hwm_kb=%ld last_kb=%ld tree_kb=%ld "
		"exit=%d signal=%d timeout=%d loaded=%d majflt=%ld minflt=%ld\n",
		t1 - t0, ru.ru_utime.tv_sec + ru.ru_utime.tv_usec / 1e6,
		ru.ru_stime.tv_sec + ru.ru_stime.tv_usec / 1e6, ru.ru_maxrss,
		hwm, last, peaktree, WIFEXITED(st) ? WEXITSTATUS(st) : -1,
		WIFSIGNALED(st) ? WTERMSIG(st) : 0, timeout, loaded,
		ru.ru_majflt, ru.ru_minflt);
	fflush(f);
	if (WIFEXITED(st))
		return WEXITSTATUS(st);
	return 128 + (WIFSIGNALED(st) ? WTERMSIG(st) : 1);
}
