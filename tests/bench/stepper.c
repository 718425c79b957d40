/* SPDX-License-Identifier: MIT */
/*
 * stepper.c - count the instructions of marked sections of a program, one step
 * at a time.
 *
 *     bench_stepper COMMAND [ARGUMENT...]
 *
 * prints "NAME COUNT" for each section (see marker.h), less the count of the
 * last section called "empty".
 *
 * Restartable sequences would never end under single steps: after each stop
 * the kernel restarts the one in which the thread was (rseq(2)). So the stepper
 * clears rseq_cs, the kernel's pointer to the section, after every step; with
 * one thread that steps alone, nothing else can run in between.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "marker.h"

/* struct rseq: cpu_id_start, cpu_id, rseq_cs. */
#define RSEQ_CS_OFFSET 8
#define STEPS_MAX      1000000

/* As struct ptrace_syscall_info of <linux/ptrace.h>, entry only. */
struct syscall_entry {
	uint8_t op;
	uint8_t pad[3];
	uint32_t arch;
	uint64_t instruction_pointer;
	uint64_t stack_pointer;
	uint64_t number;
	uint64_t argument[6];
};

static _Noreturn void fail(const char *what)
{
	dprintf(2, "bench_stepper: %s: %s\n", what, strerror(errno));
	exit(126);
}

/* Let the thread go on; 0 when it has stopped again, 1 when it has ended. */
static int resume(pid_t pid, int how, int *status, int signal)
{
	if (ptrace(how, pid, NULL, (void *)(intptr_t)signal)) {
		fail("ptrace");
	}
	if (waitpid(pid, status, 0) < 0) {
		fail("waitpid");
	}
	return !WIFSTOPPED(*status);
}

static uint64_t peek(pid_t pid, uint64_t addr)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, pid, (void *)(uintptr_t)addr, NULL);
	if (errno) {
		fail("PTRACE_PEEKDATA");
	}
	return (uint64_t)word;
}

static void read_name(pid_t pid, uint64_t addr, char *name, size_t size)
{
	for (size_t at = 0; at + sizeof(uint64_t) < size; at += 8) {
		uint64_t word = peek(pid, addr + at);

		memcpy(name + at, &word, sizeof(word));
		name[at + 8] = '\0';
		if (memchr(&word, 0, sizeof(word))) {
			return;
		}
	}
}

/* Step until `phase` is set; the number of instructions. */
static unsigned long count_section(pid_t pid, uint64_t phase, uint64_t rseq)
{
	unsigned long count = 0;
	int status;

	while ((peek(pid, phase) & 0xff) == 0) {
		if (rseq && peek(pid, rseq + RSEQ_CS_OFFSET) &&
			ptrace(PTRACE_POKEDATA, pid,
				(void *)(uintptr_t)(rseq + RSEQ_CS_OFFSET),
				NULL)) {
			fail("PTRACE_POKEDATA");
		}
		if (resume(pid, PTRACE_SINGLESTEP, &status, 0)) {
			errno = 0;
			fail("the program ended within a section");
		}
		if (WSTOPSIG(status) != SIGTRAP || ++count > STEPS_MAX) {
			errno = 0;
			fail("a section that does not end");
		}
	}
	return count;
}

/* Run on until the program ends; its wait status. */
static int trace(pid_t pid)
{
	unsigned long empty = 0;
	int status, signal = 0;

	while (!resume(pid, PTRACE_SYSCALL, &status, signal)) {
		struct syscall_entry entry;
		unsigned long count;
		char name[64];

		signal = 0;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			/* The stop after exec is ours; a signal is not. */
			signal = status >> 16 ? 0 : WSTOPSIG(status);
			continue;
		}
		memset(&entry, 0, sizeof(entry));
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(entry),
			    &entry) < 0) {
			fail("PTRACE_GET_SYSCALL_INFO");
		}
		if (entry.op != PTRACE_SYSCALL_INFO_ENTRY ||
			entry.number != SYS_prctl ||
			entry.argument[0] != MARKER_BEGIN) {
			continue;
		}
		read_name(pid, entry.argument[1], name, sizeof(name));
		/* To the exit of the call; the steps begin behind it. */
		if (resume(pid, PTRACE_SYSCALL, &status, 0)) {
			break;
		}
		count = count_section(
			pid, entry.argument[2], entry.argument[3]);
		if (strcmp(name, "empty") == 0) {
			empty = count;
		} else {
			printf("%s %lu\n", name, count - empty);
		}
	}
	return status;
}

int main(int argc, char *argv[])
{
	pid_t pid;
	int status;

	if (argc < 2) {
		dprintf(2, "usage: bench_stepper COMMAND [ARGUMENT...]\n");
		return 126;
	}
	pid = fork();
	if (pid < 0) {
		fail("fork");
	}
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execvp(argv[1], argv + 1);
		fail(argv[1]);
	}
	if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status) ||
		ptrace(PTRACE_SETOPTIONS, pid, NULL,
			(void *)(uintptr_t)(PTRACE_O_TRACESYSGOOD |
					    PTRACE_O_TRACEEXEC |
					    PTRACE_O_EXITKILL))) {
		fail("ptrace");
	}
	status = trace(pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
