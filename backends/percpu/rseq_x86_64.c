/* SPDX-License-Identifier: MIT */
/*
 * rseq_x86_64.c - the fast paths as restartable sequences for x86-64.
 *
 * A restartable sequence is a stretch of code [start, commit) which the kernel
 * abandons, by a jump to its abort address, if the thread is preempted,
 * migrated or interrupted by a signal in it. So between start and commit the
 * thread is alone on its CPU's row, and the last instruction, a plain store,
 * publishes everything. (Linux, include/uapi/linux/rseq.h; the four bytes
 * before an abort address must be the signature glibc registered, RSEQ_SIG.)
 *
 * Written as whole functions, since the compiler may put nothing into a
 * section, and so that the abort handlers lie under the same unwind entry.
 * Nothing here touches the stack: the entry's CFA holds throughout.
 *
 * Price: malloc 22 instructions, free 28, endbr64 and ret included. No lock, no
 * atomic instruction, no call.
 *
 * Not here: what a section does when it cannot (percpu.c).
 */
#if defined(__x86_64__)

#include "hot.h"

#define STRING_(x) #x
#define STRING(x)  STRING_(x)
#define HOT(field) "percpu_hot+" STRING(field) "(%rip)"

/* clang-format off */

#define FUNCTION(name)                                                         \
	"	.globl " name "\n"                                             \
	"	.hidden " name "\n"                                            \
	"	.type " name ", @function\n"                                   \
	"	.balign 64\n"                                                  \
	name ":\n"                                                             \
	"	.cfi_startproc\n"                                              \
	"	endbr64\n"

#define END(name)                                                              \
	"	.cfi_endproc\n"                                                \
	"	.size " name ", . - " name "\n"

/* struct rseq_cs: version, flags, start, length, abort address. */
#define DESCRIPTOR(name)                                                       \
	"	.pushsection .data.rel.ro, \"aw\", @progbits\n"                \
	"	.balign 32\n"                                                  \
	".L" name "_cs:\n"                                                     \
	"	.long 0, 0\n"                                                  \
	"	.quad .L" name "_start, .L" name "_commit - .L" name "_start\n"\
	"	.quad .L" name "_abort\n"                                      \
	"	.popsection\n"

/* %rdx = rseq area, from %fs; then the section is open. Uses %rax. */
#define ENTER(name)                                                            \
	".L" name "_enter:\n"                                                  \
	"	movq " HOT(HOT_RSEQ) ", %rdx\n"                                \
	"	leaq .L" name "_cs(%rip), %rax\n"                              \
	"	movq %rax, %fs:8(%rdx)\n"                                      \
	".L" name "_start:\n"

/* %rsi = row of this CPU; to the slow path without a working rseq. */
#define ROW(name)                                                              \
	"	cmpl $0, %fs:4(%rdx)\n"                                        \
	"	jl .L" name "_slow\n"                                          \
	"	movq " HOT(HOT_CID) ", %rsi\n"                                 \
	"	movl %fs:(%rsi), %esi\n"                                       \
	"	shlq $11, %rsi\n"                                              \
	"	addq " HOT(HOT_BINS) ", %rsi\n"

/* ud1 RSEQ_SIG(%rip), %edi: the signature as an instruction that traps. */
#define ABORT(name)                                                            \
	"	.byte 0x0f, 0xb9, 0x3d\n"                                      \
	"	.long 0x53053053\n"                                            \
	".L" name "_abort:\n"

__asm__(
	"	.text\n"
/*
 * void *percpu_malloc(size_t size)
 * {
 *	if (size > SMALL_MAX)
 *		return percpu_malloc_slow(size);
 *	word = percpu_word_of_size[(size + 15) / 16];
 *	restartable {
 *		if (rseq->cpu_id < 0)
 *			return percpu_malloc_slow(size);
 *		row = bins + cpu * BIN_ROW;
 *		block = row[word] >> 16;
 *		if (!block)
 *			return percpu_malloc_slow(size);
 *		row[word] = *block;                            // commit
 *	}
 *	return block;
 * }
 * Reading *block is safe: no other thread takes from this CPU's bin while we
 * are in the section, and whoever was preempted with the same block in hand
 * restarts.
 */
	DESCRIPTOR("malloc")
	FUNCTION("percpu_malloc")
	"	cmpq $32768, %rdi\n"
	"	ja .Lmalloc_slow\n"
	"	leaq 15(%rdi), %rax\n"
	"	shrq $4, %rax\n"
	"	leaq percpu_word_of_size(%rip), %rcx\n"
	"	movzbl (%rcx,%rax), %ecx\n"
	ENTER("malloc")
	ROW("malloc")
	"	movq (%rsi,%rcx,8), %rax\n"
	"	shrq $16, %rax\n"
	"	je .Lmalloc_slow\n"
	"	movq (%rax), %rdx\n"
	"	movq %rdx, (%rsi,%rcx,8)\n"
	".Lmalloc_commit:\n"
	"	ret\n"
	".Lmalloc_slow:\n"
	"	jmp percpu_malloc_slow\n"
	ABORT("malloc")
	"	jmp .Lmalloc_enter\n"
	END("percpu_malloc")
/*
 * void percpu_free(void *ptr)
 * {
 *	page = (ptr - base) / PAGE_SIZE;
 *	if (page >= pages)
 *		return percpu_free_far(ptr);
 *	word = map[page];
 *	restartable {
 *		if (rseq->cpu_id < 0)
 *			return percpu_free_slow(ptr);
 *		row = bins + cpu * BIN_ROW;
 *		old = row[word];
 *		if (!room(old))
 *			return percpu_free_slow(ptr);
 *		*ptr = old;
 *		row[word] = (ptr << 16 | room(old)) - 1;       // commit
 *	}
 * }
 * Words 0 and 1 of a row, no block and large block, never have room.
 */
	DESCRIPTOR("free")
	FUNCTION("percpu_free")
	"	movq %rdi, %rcx\n"
	"	subq " HOT(HOT_BASE) ", %rcx\n"
	"	shrq $12, %rcx\n"
	"	cmpq " HOT(HOT_PAGES) ", %rcx\n"
	"	jae .Lfree_far\n"
	"	addq " HOT(HOT_MAP) ", %rcx\n"
	"	movzbl (%rcx), %ecx\n"
	ENTER("free")
	ROW("free")
	"	movq (%rsi,%rcx,8), %rax\n"
	"	movzwl %ax, %edx\n"
	"	testl %edx, %edx\n"
	"	je .Lfree_slow\n"
	"	movq %rax, (%rdi)\n"
	"	movq %rdi, %rax\n"
	"	shlq $16, %rax\n"
	"	leaq -1(%rax,%rdx), %rax\n"
	"	movq %rax, (%rsi,%rcx,8)\n"
	".Lfree_commit:\n"
	"	ret\n"
	".Lfree_slow:\n"
	"	jmp percpu_free_slow\n"
	".Lfree_far:\n"
	"	jmp percpu_free_far\n"
	ABORT("free")
	"	jmp .Lfree_enter\n"
	END("percpu_free")
/*
 * int percpu_bin_store(word, expect, value, cid)
 * {
 *	restartable, 0 if interrupted {
 *		if (this CPU != cid || draining || *word != expect)
 *			return 0;
 *		*word = value;                                 // commit
 *	}
 *	return 1;
 * }
 */
	DESCRIPTOR("store")
	FUNCTION("percpu_bin_store")
	"	movq " HOT(HOT_RSEQ) ", %r8\n"
	"	movq " HOT(HOT_CID) ", %r9\n"
	"	leaq .Lstore_cs(%rip), %rax\n"
	"	movq %rax, %fs:8(%r8)\n"
	".Lstore_start:\n"
	"	cmpl %ecx, %fs:(%r9)\n"
	"	jne .Lstore_fail\n"
	"	cmpl $0, " HOT(HOT_DRAINING) "\n"
	"	jne .Lstore_fail\n"
	"	cmpq %rsi, (%rdi)\n"
	"	jne .Lstore_fail\n"
	"	movq %rdx, (%rdi)\n"
	".Lstore_commit:\n"
	"	movl $1, %eax\n"
	"	ret\n"
	ABORT("store")
	".Lstore_fail:\n"
	"	xorl %eax, %eax\n"
	"	ret\n"
	END("percpu_bin_store")
	"	.section .note.GNU-stack, \"\", @progbits\n"
	"	.text\n"
);

/* clang-format on */

#else

/* ISO C forbids an empty file. */
typedef int percpu_rseq_x86_64_not_here;

#endif
