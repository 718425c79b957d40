/* SPDX-License-Identifier: MIT */
/*
 * ptracecall.h - call functions in a thread of another process.
 *
 * One thread is seized and stopped, the others run on: a lock that one of them
 * holds is released in time, and the call waits for it as any call would.
 * While calls are made, signals to that thread wait; nothing of it is changed
 * for good but what the called functions do.
 *
 * Whether a thread may be used is safety.h's question.
 */
#ifndef AMUX_TOOLS_PTRACECALL_H
#define AMUX_TOOLS_PTRACECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "regs.h"

/* A stopped thread. Caller's storage. */
struct tracee {
	pid_t pid, tid;
	int memory;        /* /proc/PID/mem, or -1 */
	struct regs saved; /* from tracee_begin() on */
	uint64_t sigmask;  /* from tracee_begin() on */
};

enum tracee_outcome {
	TRACEE_OK,
	TRACEE_BUSY,   /* this thread, this time, did not stop for us */
	TRACEE_DENIED, /* errno says why */
	TRACEE_GONE,   /* the thread or the process has ended */
	TRACEE_FAULT,  /* the called function crashed or never came back */
};

/* Seize and stop thread tid of pid. */
enum tracee_outcome tracee_stop(struct tracee *tracee, pid_t pid, pid_t tid);

/* Let it run on, as if nothing had been. Ends the use of the struct. */
void tracee_release(struct tracee *tracee);

/* Save what calls disturb; and put it back. */
bool tracee_begin(struct tracee *tracee);
bool tracee_end(struct tracee *tracee);

/*
 * Call function(arguments...) with its frame below `stack`, or below the
 * thread's own stack if that is 0. Between tracee_begin() and tracee_end().
 */
enum tracee_outcome tracee_call(struct tracee *tracee, uintptr_t stack,
	uintptr_t *result, uintptr_t function,
	const uintptr_t arguments[REGS_ARGUMENTS]);

/* Memory of the process. */
bool tracee_read(
	const struct tracee *tracee, uintptr_t addr, void *to, size_t size);
bool tracee_write(const struct tracee *tracee, uintptr_t addr, const void *from,
	size_t size);

/* For regs_*.c: a whole register set; its size, 0 if there is none. */
size_t ptrace_regset_read(pid_t tid, int kind, void *to, size_t size);
bool ptrace_regset_write(pid_t tid, int kind, const void *from, size_t size);

#endif
