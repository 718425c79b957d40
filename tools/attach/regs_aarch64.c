/* SPDX-License-Identifier: MIT */
/*
 * regs_aarch64.c - see regs.h.
 *
 * The kernel prepares the restart of an interrupted system call before the
 * thread stops: the pc is back at the instruction and x0 is the argument
 * again, so that putting the registers back is all there is to do. A call with
 * a relative timeout then starts its time anew.
 * Sources: AAPCS64, 6 (calls); the kernel's arch/arm64/kernel/signal.c.
 */
#include "regs.h"

#if defined(__aarch64__)

	#include <elf.h>
	#include <string.h>
	#include <sys/ptrace.h>
	#include <sys/uio.h>

	#include "ptracecall.h"

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
		tid, NT_PRFPREG, regs->vector, sizeof(regs->vector));
	return regs->vector_size > 0 && regs_read_general(tid, &regs->general);
}

bool regs_write(pid_t tid, const struct regs *regs)
{
	return ptrace_regset_write(
		       tid, NT_PRFPREG, regs->vector, regs->vector_size) &&
	       regs_write_general(tid, &regs->general);
}

uintptr_t regs_pc(const struct regs_general *regs)
{
	return regs->user.pc;
}

uintptr_t regs_free_stack(const struct regs_general *regs)
{
	return regs->user.sp;
}

void regs_call(struct regs_general *regs, uintptr_t function, uintptr_t stack,
	const uintptr_t arguments[REGS_ARGUMENTS], uintptr_t *slot,
	uintptr_t *word)
{
	enum { FRAME = 29, LINK = 30, BRANCH_TYPE = 3 << 10 };
	struct user_regs_struct *user = &regs->user;

	for (int i = 0; i < REGS_ARGUMENTS; i++) {
		user->regs[i] = arguments[i];
	}
	user->regs[FRAME] = 0; /* the outermost frame */
	user->regs[LINK] = 0;
	user->pc = function;
	user->sp = stack & ~(uintptr_t)15;
	user->pstate &= ~(unsigned long long)BRANCH_TYPE;
	*slot = 0;
	*word = 0;
}

bool regs_has_returned(const struct regs_general *regs, uintptr_t stack)
{
	return regs->user.pc == 0 && regs->user.sp == (stack & ~(uintptr_t)15);
}

uintptr_t regs_result(const struct regs_general *regs)
{
	return regs->user.regs[0];
}

bool regs_in_syscall(
	const struct regs_general *regs, const unsigned char code[8])
{
	static const unsigned char svc[4] = {0x01, 0x00, 0x00, 0xd4};

	/* Before it if it will be restarted, else behind it. */
	return memcmp(code, svc, 4) == 0 || memcmp(code + 4, svc, 4) == 0;
}

uint16_t regs_elf_machine(void)
{
	return EM_AARCH64;
}

#endif
