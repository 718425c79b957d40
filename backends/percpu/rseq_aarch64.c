/* SPDX-License-Identifier: MIT */
/*
 * rseq_aarch64.c - the fast paths as restartable sequences for aarch64.
 *
 * What a restartable sequence is, and the pseudo-code of the three functions,
 * stand in rseq_x86_64.c; here is only what differs. The signature before an
 * abort address is the instruction BRK #0x45E0 (Linux, arch/arm64; glibc,
 * bits/rseq.h). The thread pointer is tpidr_el0. Plain loads and stores do: a
 * row is touched by threads of one CPU at a time, and the kernel orders them
 * when it switches.
 *
 * Registers: x4 = &percpu_hot, x3 = thread pointer, x5 = rseq area.
 */
#if defined(__aarch64__)

#include "hot.h"

#define STRING_(x) #x
#define STRING(x)  STRING_(x)
#define HOT(field) "[x4, #" STRING(field) "]"

/* clang-format off */

/* hint #34 is bti c. */
#define FUNCTION(name)                                                         \
	"	.globl " name "\n"                                             \
	"	.hidden " name "\n"                                            \
	"	.type " name ", %function\n"                                   \
	"	.balign 64\n"                                                  \
	name ":\n"                                                             \
	"	.cfi_startproc\n"                                              \
	"	hint #34\n"

#define END(name)                                                              \
	"	.cfi_endproc\n"                                                \
	"	.size " name ", . - " name "\n"

/* struct rseq_cs: version, flags, start, length, abort address. */
#define DESCRIPTOR(name)                                                       \
	"	.pushsection .data.rel.ro, \"aw\", %progbits\n"                \
	"	.balign 32\n"                                                  \
	".L" name "_cs:\n"                                                     \
	"	.word 0, 0\n"                                                  \
	"	.xword .L" name "_start, .L" name "_commit - .L" name "_start\n"\
	"	.xword .L" name "_abort\n"                                     \
	"	.popsection\n"

#define LOAD_HOT                                                               \
	"	adrp x4, percpu_hot\n"                                         \
	"	add x4, x4, #:lo12:percpu_hot\n"                               \
	"	mrs x3, tpidr_el0\n"

/* Opens the section. Uses x6. */
#define ENTER(name)                                                            \
	".L" name "_enter:\n"                                                  \
	"	ldr x5, " HOT(HOT_RSEQ) "\n"                                   \
	"	adrp x6, .L" name "_cs\n"                                      \
	"	add x6, x6, #:lo12:.L" name "_cs\n"                            \
	"	add x5, x3, x5\n"                                              \
	"	str x6, [x5, #8]\n"                                            \
	".L" name "_start:\n"

/* x9 = &row[x1]; to the slow path without a working rseq. */
#define WORD(name)                                                             \
	"	ldr w8, [x5, #4]\n"                                            \
	"	tbnz w8, #31, .L" name "_slow\n"                               \
	"	ldr x7, " HOT(HOT_CID) "\n"                                    \
	"	ldr w8, [x3, x7]\n"                                            \
	"	ldr x9, " HOT(HOT_BINS) "\n"                                   \
	"	add x9, x9, x8, lsl #11\n"                                     \
	"	add x9, x9, x1, lsl #3\n"

#define ABORT(name)                                                            \
	"	.inst 0xd428bc00\n"                                            \
	".L" name "_abort:\n"

__asm__(
	"	.text\n"
	DESCRIPTOR("malloc")
	FUNCTION("percpu_malloc")
	"	cmp x0, #8, lsl #12\n"
	"	b.hi .Lmalloc_slow\n"
	"	add x1, x0, #15\n"
	"	lsr x1, x1, #4\n"
	"	adrp x2, percpu_word_of_size\n"
	"	add x2, x2, #:lo12:percpu_word_of_size\n"
	"	ldrb w1, [x2, x1]\n"
	LOAD_HOT
	ENTER("malloc")
	WORD("malloc")
	"	ldr x10, [x9]\n"
	"	lsr x11, x10, #16\n"
	"	cbz x11, .Lmalloc_slow\n"
	"	ldr x12, [x11]\n"
	"	str x12, [x9]\n"
	".Lmalloc_commit:\n"
	"	mov x0, x11\n"
	"	ret\n"
	".Lmalloc_slow:\n"
	"	b percpu_malloc_slow\n"
	ABORT("malloc")
	"	b .Lmalloc_enter\n"
	END("percpu_malloc")

	DESCRIPTOR("free")
	FUNCTION("percpu_free")
	LOAD_HOT
	"	ldr x1, " HOT(HOT_BASE) "\n"
	"	ldr x2, " HOT(HOT_PAGES) "\n"
	"	sub x1, x0, x1\n"
	"	lsr x1, x1, #12\n"
	"	cmp x1, x2\n"
	"	b.hs .Lfree_far\n"
	"	ldr x2, " HOT(HOT_MAP) "\n"
	"	ldrb w1, [x2, x1]\n"
	ENTER("free")
	WORD("free")
	"	ldr x10, [x9]\n"
	"	ands x11, x10, #0xffff\n"
	"	b.eq .Lfree_slow\n"
	"	str x10, [x0]\n"
	"	sub x11, x11, #1\n"
	"	orr x11, x11, x0, lsl #16\n"
	"	str x11, [x9]\n"
	".Lfree_commit:\n"
	"	ret\n"
	".Lfree_slow:\n"
	"	b percpu_free_slow\n"
	".Lfree_far:\n"
	"	b percpu_free_far\n"
	ABORT("free")
	"	b .Lfree_enter\n"
	END("percpu_free")

	DESCRIPTOR("store")
	FUNCTION("percpu_bin_store")
	"	mov x10, x0\n"
	"	mov x11, x1\n"
	"	mov x12, x2\n"
	"	mov w13, w3\n"
	LOAD_HOT
	"	ldr x5, " HOT(HOT_RSEQ) "\n"
	"	ldr x7, " HOT(HOT_CID) "\n"
	"	adrp x6, .Lstore_cs\n"
	"	add x6, x6, #:lo12:.Lstore_cs\n"
	"	add x5, x3, x5\n"
	"	mov w0, #0\n"
	"	str x6, [x5, #8]\n"
	".Lstore_start:\n"
	"	ldr w8, [x4, #" STRING(HOT_DRAINING) "]\n"
	"	cbnz w8, .Lstore_fail\n"
	"	ldr w8, [x3, x7]\n"
	"	sub w8, w8, w13\n"
	"	cbnz w8, .Lstore_fail\n"
	"	ldr x9, [x10]\n"
	"	sub x9, x9, x11\n"
	"	cbnz x9, .Lstore_fail\n"
	"	str x12, [x10]\n"
	".Lstore_commit:\n"
	"	mov w0, #1\n"
	".Lstore_fail:\n"
	"	ret\n"
	ABORT("store")
	"	mov w0, #0\n"
	"	ret\n"
	END("percpu_bin_store")
	"	.section .note.GNU-stack, \"\", %progbits\n"
	"	.text\n"
);

/* clang-format on */

#else

/* ISO C forbids an empty file. */
typedef int percpu_rseq_aarch64_not_here;

#endif
