/* SPDX-License-Identifier: MIT */
/*
 * measure.c - one command from start to end, and what it used.
 *
 * Times, faults and switches are wait4(2)'s, of the process and all its
 * descendants that were waited for. Peak RSS is that of the largest process
 * among them, as /usr/bin/time has it. Linux counts there what the process had
 * before it executed the program, that is, a copy of ourselves, and counts
 * roughly; VmHWM of the processes that we see exit is exact.
 *
 * RSS at the end can be read only while the process still has its memory: the
 * command is traced with ptrace(2), for nothing but the stop at exit, and
 * followed into processes it forks. It is the RSS at exit of the largest
 * process. Threads are not traced and cost nothing.
 */
#include "measure.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch.h"
#include "proctree.h"
#include "tool.h"

static struct {
	bool told_untraced;
} g;

struct traced {
	bool active;
	const char *library; /* to be seen in some process, or NULL */
	bool library_seen;
	double largest; /* VmHWM in KiB */
	double at_end;  /* VmRSS at exit of that process */
};

double clock_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

const char *subject_library(const struct subject *subject)
{
	switch (subject->kind) {
	case SUBJECT_SHIM:
		return launch_shim();
	case SUBJECT_PRELOAD:
		return subject->backend;
	case SUBJECT_NONE:
		break;
	}
	return NULL;
}

static bool trace_begin(pid_t pid)
{
	const long options = PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL;

	if (ptrace(PTRACE_SEIZE, pid, NULL, options) == 0) {
		return true;
	}
	if (!g.told_untraced) {
		tool_perror("note: no RSS at the end, since ptrace is refused");
		g.told_untraced = true;
	}
	return false;
}

static void trace_exit(struct traced *traced, pid_t pid)
{
	double peak = process_memory(pid, "VmHWM");

	if (peak > traced->largest) {
		traced->largest = peak;
		traced->at_end = process_memory(pid, "VmRSS");
	}
	if (traced->library != NULL && !traced->library_seen) {
		traced->library_seen = process_maps_file(pid, traced->library);
	}
}

/* Let a stopped process go on, after what its stop was for. */
static void trace_continue(struct traced *traced, pid_t pid, int status)
{
	int signal = WSTOPSIG(status);
	int event = status >> 16;

	switch (event) {
	case PTRACE_EVENT_EXIT:
		trace_exit(traced, pid);
		signal = 0;
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		signal = 0;
		break;
	case PTRACE_EVENT_STOP:
		if (signal != SIGTRAP) {
			/* A stop signal took effect: leave it stopped. */
			ptrace(PTRACE_LISTEN, pid, NULL, NULL);
			return;
		}
		signal = 0;
		break;
	default:
		break;
	}
	ptrace(PTRACE_CONT, pid, NULL, (long)signal);
}

/* Until the command itself has ended; returns its wait status. */
static int wait_traced(pid_t pid, struct traced *traced, struct rusage *usage)
{
	int status;
	struct rusage one;

	while (true) {
		pid_t who = wait4(-1, &status, __WALL, &one);

		if (who < 0 && errno != EINTR) {
			tool_perror("wait4");
			exit(TOOL_BROKEN);
		}
		if (who < 0) {
			continue;
		}
		if (WIFSTOPPED(status)) {
			trace_continue(traced, who, status);
		} else if (who == pid) {
			*usage = one;
			return status;
		}
	}
}

static double timeval_seconds(struct timeval value)
{
	return (double)value.tv_sec + (double)value.tv_usec / 1e6;
}

static void values_fill(struct run *run, const struct rusage *usage,
	const struct traced *traced, double before_exec)
{
	double peak = (double)usage->ru_maxrss;

	if (peak <= before_exec || peak < traced->largest) {
		peak = traced->largest;
	}
	run->values[METRIC_USER] = timeval_seconds(usage->ru_utime);
	run->values[METRIC_SYSTEM] = timeval_seconds(usage->ru_stime);
	run->values[METRIC_PEAK_RSS] = peak > 0 ? peak : NAN;
	if (traced->largest > 0) {
		run->values[METRIC_END_RSS] = traced->at_end;
	}
	run->values[METRIC_MINOR_FAULTS] = (double)usage->ru_minflt;
	run->values[METRIC_MAJOR_FAULTS] = (double)usage->ru_majflt;
	run->values[METRIC_VOLUNTARY] = (double)usage->ru_nvcsw;
	run->values[METRIC_INVOLUNTARY] = (double)usage->ru_nivcsw;
}

void measure_command(const struct plan *plan, const struct subject *subject,
	char *const *argv, const struct capture *capture, struct run *run)
{
	struct traced traced = {.library = subject_library(subject)};
	struct rusage usage = {0};
	struct pids before = tree_list(getpid());
	struct start start;
	double before_exec;
	double begin;
	int status;
	int error;

	if (start_prepare(&start, subject, argv, capture) != 0) {
		exit(TOOL_BROKEN);
	}
	traced.active = trace_begin(start.pid);
	limit_begin(start.pid, plan->timeout);
	before_exec = process_memory(start.pid, "VmHWM");
	begin = clock_seconds();
	error = start_release(&start);
	status = wait_traced(start.pid, &traced, &usage);
	run->values[METRIC_WALL] = clock_seconds() - begin;
	values_fill(run, &usage, &traced, before_exec);
	start_forget(&start);
	if (limit_end()) {
		run->failure =
			tool_format("timed out after %g s", plan->timeout);
	} else if (error != 0) {
		run->failure = tool_format(
			"cannot execute %s: %s", argv[0], strerror(error));
	} else {
		run->failure = failure_of_status(status, capture);
	}
	if (run->failure == NULL && traced.active && traced.library != NULL &&
		!traced.library_seen) {
		run->failure = tool_format("%s was not loaded: is the program "
					   "static or privileged?",
			traced.library);
	}
	tree_end_others(&before);
	free(before.list);
}
