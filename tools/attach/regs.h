/* SPDX-License-Identifier: MIT */
/*
 * regs.h - the registers of a stopped thread; one file for each architecture.
 *
 * Whole register sets are saved and put back, vector registers too, since the
 * functions called meanwhile may use them all.
 */
#ifndef AMUX_TOOLS_REGS_H
#define AMUX_TOOLS_REGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#if defined(__x86_64__)
struct regs_general {
	struct user_regs_struct user;
};
#elif defined(__aarch64__)
struct regs_general {
	struct user_regs_struct user;
};
#else
	#error "allocmux attach knows x86-64 and aarch64 only"
#endif

struct regs {
	struct regs_general general;
	size_t vector_size;
	char vector[12 * 1024]; /* XSAVE with AMX tiles: 11 KiB */
};

enum { REGS_ARGUMENTS = 6 };

/* False with errno set if the thread is gone. */
bool regs_read(pid_t tid, struct regs *regs);
bool regs_write(pid_t tid, const struct regs *regs);

/* The general registers alone. */
bool regs_read_general(pid_t tid, struct regs_general *regs);
bool regs_write_general(pid_t tid, const struct regs_general *regs);

uintptr_t regs_pc(const struct regs_general *regs);

/*
 * Where a call may put its frame: below the stack and what leaf functions keep
 * under it (the red zone of the System V ABI; aarch64 has none).
 */
uintptr_t regs_free_stack(const struct regs_general *regs);

/*
 * Make the thread call function(arguments...) with its frame below `stack` and
 * return to address 0, which is nobody's: the fault there is the end of the
 * call. The word to be written at *slot first is *word; slot is 0 if none. A
 * system call that the thread was in is not restarted now, but when the saved
 * registers are back.
 */
void regs_call(struct regs_general *regs, uintptr_t function, uintptr_t stack,
	const uintptr_t arguments[REGS_ARGUMENTS], uintptr_t *slot,
	uintptr_t *word);

/* Has the call returned? `stack` as given to regs_call(). */
bool regs_has_returned(const struct regs_general *regs, uintptr_t stack);

uintptr_t regs_result(const struct regs_general *regs);

/*
 * Is the thread in a system call? `code` holds the 8 bytes around its pc, from
 * pc - 4 on.
 */
bool regs_in_syscall(
	const struct regs_general *regs, const unsigned char code[8]);

/* ELF's number of this machine. */
uint16_t regs_elf_machine(void);

#endif
