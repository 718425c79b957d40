/* SPDX-License-Identifier: MIT */
/*
 * ptracecall.c - see ptracecall.h; ptrace(2), signal(7).
 */
#include "ptracecall.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	STOP_PATIENCE_MS = 500,   /* to stop; a thread in the kernel may not */
	CALL_PATIENCE_MS = 60000, /* to load a library from a slow disk */
};

size_t ptrace_regset_read(pid_t tid, int kind, void *to, size_t size)
{
	struct iovec vector = {.iov_base = to, .iov_len = size};

	return ptrace(PTRACE_GETREGSET, tid, kind, &vector) == 0
		       ? vector.iov_len
		       : 0;
}

bool ptrace_regset_write(pid_t tid, int kind, const void *from, size_t size)
{
	struct iovec vector = {.iov_base = (void *)from, .iov_len = size};

	return ptrace(PTRACE_SETREGSET, tid, kind, &vector) == 0;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int stop_event(int status)
{
	return (unsigned)status >> 16;
}

/* A thread that was given up on has stopped after all: it runs on. */
static void let_go(pid_t tid, int status)
{
	ptrace(PTRACE_DETACH, tid, NULL,
		stop_event(status) ? 0L : (long)WSTOPSIG(status));
}

/* The next stop of the thread. False if it does not come, or it has ended. */
static bool wait_stop(pid_t tid, int patience_ms, int *status)
{
	static const struct timespec pause = {.tv_nsec = 200 * 1000};
	int64_t end = now_ms() + patience_ms;
	pid_t got;

	do {
		got = waitpid(-1, status, __WALL | WNOHANG);
		if (got == tid) {
			return WIFSTOPPED(*status);
		}
		if (got > 0 && WIFSTOPPED(*status)) {
			let_go(got, *status);
		} else if (got == 0) {
			nanosleep(&pause, NULL);
		}
	} while (got >= 0 && now_ms() < end);
	return false;
}

/* Why seizing was not permitted: the answer as far as the thread tells it. */
static enum tracee_outcome why_denied(pid_t pid, pid_t tid)
{
	enum tracee_outcome outcome = TRACEE_DENIED;
	int saved = errno, tracer;
	char line[128], state;
	FILE *file;

	snprintf(line, sizeof(line), "/proc/%d/task/%d/status", (int)pid,
		(int)tid);
	file = fopen(line, "re");
	if (file == NULL) {
		return TRACEE_GONE;
	}
	while (fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "State: %c", &state) == 1 &&
			(state == 'Z' || state == 'X')) {
			outcome = TRACEE_GONE;
		}
		if (sscanf(line, "TracerPid: %d", &tracer) == 1 &&
			tracer == getpid()) {
			outcome = TRACEE_OK; /* seized before, given up on */
		}
	}
	fclose(file);
	errno = saved;
	return outcome;
}

static enum tracee_outcome seize(pid_t pid, pid_t tid)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0) {
		enum tracee_outcome outcome =
			errno == ESRCH ? TRACEE_GONE : why_denied(pid, tid);

		if (outcome != TRACEE_OK) {
			return outcome;
		}
	}
	return ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0 ? TRACEE_OK
							      : TRACEE_GONE;
}

enum tracee_outcome tracee_stop(struct tracee *tracee, pid_t pid, pid_t tid)
{
	enum tracee_outcome outcome = seize(pid, tid);
	char path[64];
	int status;

	*tracee = (struct tracee){.pid = pid, .tid = tid, .memory = -1};
	if (outcome != TRACEE_OK) {
		return outcome;
	}
	if (!wait_stop(tid, STOP_PATIENCE_MS, &status)) {
		return TRACEE_BUSY; /* wait_stop() lets go of it one day */
	}
	if (stop_event(status) != PTRACE_EVENT_STOP ||
		WSTOPSIG(status) != SIGTRAP) {
		/* A signal came first: it goes where it was going. */
		let_go(tid, status);
		return TRACEE_BUSY;
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	tracee->memory = open(path, O_RDWR | O_CLOEXEC);
	if (tracee->memory < 0) {
		int saved = errno;

		tracee_release(tracee);
		errno = saved;
		return TRACEE_DENIED;
	}
	return TRACEE_OK;
}

void tracee_release(struct tracee *tracee)
{
	if (tracee->memory >= 0) {
		close(tracee->memory);
	}
	ptrace(PTRACE_DETACH, tracee->tid, NULL, NULL);
}

/* All but those that a fault in the called function raises. */
static uint64_t quiet_mask(void)
{
	static const int faults[] = {
		SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
	uint64_t mask = ~(uint64_t)0;

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		mask &= ~((uint64_t)1 << (faults[i] - 1));
	}
	return mask;
}

static bool set_mask(pid_t tid, uint64_t mask)
{
	return ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask) == 0;
}

bool tracee_begin(struct tracee *tracee)
{
	return ptrace(PTRACE_GETSIGMASK, tracee->tid, sizeof(tracee->sigmask),
		       &tracee->sigmask) == 0 &&
	       regs_read(tracee->tid, &tracee->saved) &&
	       set_mask(tracee->tid, quiet_mask());
}

bool tracee_end(struct tracee *tracee)
{
	bool regs = regs_write(tracee->tid, &tracee->saved);

	return set_mask(tracee->tid, tracee->sigmask) && regs;
}

/* Run until the call's return, which is a fault. */
static enum tracee_outcome run_call(
	struct tracee *tracee, uintptr_t stack, struct regs_general *regs)
{
	int64_t end = now_ms() + CALL_PATIENCE_MS;
	int status;

	while (now_ms() < end) {
		if (ptrace(PTRACE_CONT, tracee->tid, NULL, NULL) != 0) {
			return TRACEE_GONE;
		}
		if (!wait_stop(tracee->tid, CALL_PATIENCE_MS, &status)) {
			break;
		}
		/* A stop of the whole process waits until we are done. */
		if (stop_event(status) || WSTOPSIG(status) == SIGSTOP) {
			continue;
		}
		if (!regs_read_general(tracee->tid, regs)) {
			return TRACEE_GONE;
		}
		if (WSTOPSIG(status) == SIGSEGV &&
			regs_has_returned(regs, stack)) {
			return TRACEE_OK;
		}
		return TRACEE_FAULT;
	}
	if (kill(tracee->pid, 0) != 0) {
		return TRACEE_GONE;
	}
	/* Stop it, so that its registers can be put back. */
	ptrace(PTRACE_INTERRUPT, tracee->tid, NULL, NULL);
	return wait_stop(tracee->tid, STOP_PATIENCE_MS, &status) ? TRACEE_FAULT
								 : TRACEE_GONE;
}

enum tracee_outcome tracee_call(struct tracee *tracee, uintptr_t stack,
	uintptr_t *result, uintptr_t function,
	const uintptr_t arguments[REGS_ARGUMENTS])
{
	struct regs_general regs = tracee->saved.general;
	enum tracee_outcome outcome;
	uintptr_t slot, word;

	if (stack == 0) {
		stack = regs_free_stack(&regs);
	}
	regs_call(&regs, function, stack, arguments, &slot, &word);
	if ((slot != 0 && !tracee_write(tracee, slot, &word, sizeof(word))) ||
		!regs_write_general(tracee->tid, &regs)) {
		return TRACEE_FAULT;
	}
	outcome = run_call(tracee, stack, &regs);
	*result = outcome == TRACEE_OK ? regs_result(&regs) : 0;
	return outcome;
}

bool tracee_read(
	const struct tracee *tracee, uintptr_t addr, void *to, size_t size)
{
	return pread(tracee->memory, to, size, (off_t)addr) == (ssize_t)size;
}

bool tracee_write(const struct tracee *tracee, uintptr_t addr, const void *from,
	size_t size)
{
	return pwrite(tracee->memory, from, size, (off_t)addr) == (ssize_t)size;
}
