/* SPDX-License-Identifier: MIT */
/*
 * runner.c - run a command and say what it cost.
 *
 *     bench_runner -o FD [-n COUNT] [-x] COMMAND [ARGUMENT...]
 *
 * runs COMMAND COUNT times, one after the other, and writes to descriptor FD
 *
 *     wall_ns user_us system_us peak_kib minor_faults major_faults switches
 *     exit_kib status
 *
 * in one line: sums over the runs, but the largest peak and exit_kib. With -x
 * exit_kib is the exact resident size when the process ends, by ptrace;
 * otherwise it is 0.
 *
 * The program is static and small, because a child's peak begins with that of
 * the image it was started from (Linux, exec_mmap): started by a Python
 * interpreter, every small program would seem to need ten MiB.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct cost {
	uint64_t wall_ns, user_us, system_us;
	uint64_t peak_kib, minor, major, switches, exit_kib;
	int status;
};

static _Noreturn void fail(const char *what)
{
	dprintf(2, "bench_runner: %s: %s\n", what, strerror(errno));
	_exit(126);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The resident KiB of a stopped process, by a walk of its page tables. */
static uint64_t resident_kib(pid_t pid)
{
	char path[64], text[4096];
	ssize_t got;
	const char *line;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (got < 0) {
		fail(path);
	}
	close(fd);
	text[got] = '\0';
	line = strstr(text, "\nRss:");
	return line ? strtoul(line + 5, NULL, 10) : 0;
}

static pid_t start(char *argv[])
{
	pid_t pid;
	int error = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);

	if (error) {
		errno = error;
		fail(argv[0]);
	}
	return pid;
}

/* Started stopped, then watched for its exit. */
static pid_t start_traced(char *argv[])
{
	pid_t pid = fork();
	int status;

	if (pid < 0) {
		fail("fork");
	}
	if (pid == 0) {
		raise(SIGSTOP);
		execvp(argv[0], argv);
		fail(argv[0]);
	}
	if (waitpid(pid, &status, WUNTRACED) < 0 ||
		ptrace(PTRACE_SEIZE, pid, NULL,
			(void *)(uintptr_t)PTRACE_O_TRACEEXIT) ||
		kill(pid, SIGCONT)) {
		fail("ptrace");
	}
	return pid;
}

static void finish(pid_t pid, struct cost *cost)
{
	struct rusage usage;
	int status;

	for (;;) {
		int pass = 0;

		if (wait4(pid, &status, 0, &usage) < 0) {
			fail("wait4");
		}
		if (!WIFSTOPPED(status)) {
			break;
		}
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8)) {
			uint64_t kib = resident_kib(pid);

			if (kib > cost->exit_kib) {
				cost->exit_kib = kib;
			}
		} else if (status >> 16 == 0) {
			pass = WSTOPSIG(status);
		}
		if (ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)pass)) {
			fail("ptrace");
		}
	}
	cost->user_us += (uint64_t)usage.ru_utime.tv_sec * 1000000 +
			 (uint64_t)usage.ru_utime.tv_usec;
	cost->system_us += (uint64_t)usage.ru_stime.tv_sec * 1000000 +
			   (uint64_t)usage.ru_stime.tv_usec;
	if ((uint64_t)usage.ru_maxrss > cost->peak_kib) {
		cost->peak_kib = (uint64_t)usage.ru_maxrss;
	}
	cost->minor += (uint64_t)usage.ru_minflt;
	cost->major += (uint64_t)usage.ru_majflt;
	cost->switches += (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
	cost->status = WIFEXITED(status) ? WEXITSTATUS(status)
					 : 128 + WTERMSIG(status);
}

int main(int argc, char *argv[])
{
	struct cost cost = {0};
	unsigned long count = 1;
	int option, traced = 0, out = -1;

	while ((option = getopt(argc, argv, "+n:o:x")) != -1) {
		if (option == 'n') {
			count = strtoul(optarg, NULL, 10);
		} else if (option == 'o') {
			out = atoi(optarg);
		} else if (option == 'x') {
			traced = 1;
		}
	}
	if (optind == argc || count == 0 || out < 0) {
		dprintf(2,
			"usage: bench_runner -o FD [-n COUNT] [-x] COMMAND\n");
		return 126;
	}
	if (fcntl(out, F_SETFD, FD_CLOEXEC) < 0) {
		fail("-o");
	}
	for (unsigned long i = 0; i < count && cost.status == 0; i++) {
		uint64_t began = now_ns();
		pid_t pid = (traced ? start_traced : start)(argv + optind);

		finish(pid, &cost);
		cost.wall_ns += now_ns() - began;
	}
	dprintf(out, "%lu %lu %lu %lu %lu %lu %lu %lu %d\n", cost.wall_ns,
		cost.user_us, cost.system_us, cost.peak_kib, cost.minor,
		cost.major, cost.switches, cost.exit_kib, cost.status);
	return 0;
}
