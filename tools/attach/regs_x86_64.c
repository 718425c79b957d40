/* SPDX-License-Identifier: MIT */
/*
 * regs_x86_64.c - see regs.h.
 *
 * Sources: System V ABI, AMD64 supplement, 3.2 (calls, the 128-byte red zone);
 * ptrace(2); the kernel's arch/x86/kernel/signal.c for what orig_rax means to
 * the restart of system calls.
 */
#include "regs.h"

#if defined(__x86_64__)

	#include <elf.h>
	#include <sys/ptrace.h>
	#include <sys/uio.h>

	#include "ptracecall.h"

enum { RED_ZONE = 128 };

bool regs_read_general(pid_t tid, struct regs_general *regs)
{
	return ptrace_regset_read(tid, NT_PRSTATUS, &regs->user,
		       sizeof(regs->user)) == sizeof(regs->user);
}

bool regs_write_general(pid_t tid, const struct regs_general *regs)
{
	return ptrace_regset_write(
		tid, NT_PRSTATUS, &regs->user, sizeof(regs->user));
}

bool regs_read(pid_t tid, struct regs *regs)
{
	regs->vector_size = ptrace_regset_read(
		tid, NT_X86_XSTATE, regs->vector, sizeof(regs->vector));
	return regs->vector_size > 0 && regs_read_general(tid, &regs->general);
}

bool regs_write(pid_t tid, const struct regs *regs)
{
	return ptrace_regset_write(
		       tid, NT_X86_XSTATE, regs->vector, regs->vector_size) &&
	       regs_write_general(tid, &regs->general);
}

uintptr_t regs_pc(const struct regs_general *regs)
{
	return regs->user.rip;
}

uintptr_t regs_free_stack(const struct regs_general *regs)
{
	return regs->user.rsp - RED_ZONE;
}

/* The stack at the function's first instruction: 16n + 8 (ABI 3.2.2). */
static uintptr_t entry_stack(uintptr_t stack)
{
	return (stack & ~(uintptr_t)15) - 8;
}

void regs_call(struct regs_general *regs, uintptr_t function, uintptr_t stack,
	const uintptr_t arguments[REGS_ARGUMENTS], uintptr_t *slot,
	uintptr_t *word)
{
	enum { DIRECTION = 0x400, ALIGN_CHECK = 0x40000 };
	struct user_regs_struct *user = &regs->user;

	user->rdi = arguments[0];
	user->rsi = arguments[1];
	user->rdx = arguments[2];
	user->rcx = arguments[3];
	user->r8 = arguments[4];
	user->r9 = arguments[5];
	user->rax = 0; /* no vector arguments */
	user->rbp = 0; /* the outermost frame */
	user->rip = function;
	user->rsp = entry_stack(stack);
	user->eflags &= ~(unsigned long long)(DIRECTION | ALIGN_CHECK);
	user->orig_rax = (unsigned long long)-1; /* not from a system call */
	*slot = user->rsp;
	*word = 0;
}

bool regs_has_returned(const struct regs_general *regs, uintptr_t stack)
{
	uintptr_t entry = entry_stack(stack);

	/* With shadow stacks the return itself faults, the frame unpopped. */
	return (regs->user.rip == 0 && regs->user.rsp == entry + 8) ||
	       (regs->user.rip != 0 && regs->user.rsp == entry);
}

uintptr_t regs_result(const struct regs_general *regs)
{
	return regs->user.rax;
}

bool regs_in_syscall(
	const struct regs_general *regs, const unsigned char code[8])
{
	return (long long)regs->user.orig_rax >= 0 && code[2] == 0x0f &&
	       code[3] == 0x05;
}

uint16_t regs_elf_machine(void)
{
	return EM_X86_64;
}

#endif
