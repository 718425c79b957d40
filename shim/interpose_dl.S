/* SPDX-License-Identifier: MIT */
/*
 * interpose_dl.S - the entry points that must leave by a jump.
 *
 *     dlopen(file, flags):
 *         jump interpose_dlopen(file, flags, caller)
 *                 (file, flags & dlopen_mask)
 *     dlsym(handle, name), dlvsym(handle, name, version):
 *         answer = interpose_dlsym(handle, name)
 *         if answer: return answer
 *         jump real_dlsym(handle, name [, version])
 *
 * A call instead of the jump would put our address where the loader looks for
 * the caller's. NULL is returned where there is no loader to jump to.
 */
#define DLOPEN_MASK 24 /* offsetof(struct loader_real, dlopen_mask) */

	.text

#if defined(__x86_64__)

#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

/* Keep the three argument registers over a call of FUNCTION. */
.macro call_keeping function
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	call	\function
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
.endm

.macro entry name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	_CET_ENDBR
.endm

.macro jump_or_return
	testq	%rax, %rax
	je	1f
	jmp	*%rax
1:	ret
	.cfi_endproc
.endm

entry dlopen
	movq	(%rsp), %rdx
	call_keeping interpose_dlopen
	andl	DLOPEN_MASK+loader_real(%rip), %esi
	jump_or_return
	.size	dlopen, . - dlopen

entry dlsym
	call_keeping interpose_dlsym
	testq	%rax, %rax
	jne	1f
	call_keeping interpose_real_dlsym
	jump_or_return
	.size	dlsym, . - dlsym

entry dlvsym
	call_keeping interpose_dlsym
	testq	%rax, %rax
	jne	1f
	call_keeping interpose_real_dlvsym
	jump_or_return
	.size	dlvsym, . - dlvsym

#elif defined(__aarch64__)

/* Keep the three argument registers and the return address over a call. */
.macro call_keeping function
	stp	x0, x1, [sp, #-32]!
	.cfi_adjust_cfa_offset 32
	stp	x2, x30, [sp, #16]
	.cfi_rel_offset x30, 24
	bl	\function
	mov	x16, x0
	ldp	x2, x30, [sp, #16]
	.cfi_restore x30
	ldp	x0, x1, [sp], #32
	.cfi_adjust_cfa_offset -32
.endm

.macro entry name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	hint	#34			/* bti c */
.endm

.macro jump_or_return
	cbz	x16, 1f
	br	x16
1:	mov	x0, x16
	ret
	.cfi_endproc
.endm

entry dlopen
	mov	x2, x30
	call_keeping interpose_dlopen
	adrp	x17, loader_real
	add	x17, x17, :lo12:loader_real
	ldr	w17, [x17, #DLOPEN_MASK]
	and	w1, w1, w17
	jump_or_return
	.size	dlopen, . - dlopen

entry dlsym
	call_keeping interpose_dlsym
	cbnz	x16, 1f
	call_keeping interpose_real_dlsym
	jump_or_return
	.size	dlsym, . - dlsym

entry dlvsym
	call_keeping interpose_dlsym
	cbnz	x16, 1f
	call_keeping interpose_real_dlvsym
	jump_or_return
	.size	dlvsym, . - dlvsym

#endif

	.section .note.GNU-stack, "", %progbits
