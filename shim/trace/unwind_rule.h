/* SPDX-License-Identifier: MIT */
/*
 * unwind_rule.h - how to step from one frame to its caller.
 *
 * The few registers that matter (DWARF 5, section 6.4): the stack pointer, the
 * frame pointer, the return address. A rule says where the caller's values lie;
 * it is a function of the code alone, so it is derived once per address.
 */
#ifndef AMUX_TRACE_UNWIND_RULE_H
#define AMUX_TRACE_UNWIND_RULE_H

#include <stdint.h>

enum rule_kind {
	RULE_NONE = 0, /* no unwind information: the stack is lost here */
	RULE_FRAME,    /* an ordinary frame */
	RULE_END,      /* the outermost frame */
	RULE_OTHER     /* there is information, but not of this simple form */
};

/* What an offset counts from. */
enum rule_base {
	RULE_CFA = 0, /* the caller's stack pointer */
	RULE_SP,
	RULE_FP,
	RULE_SAME /* not saved: the register still holds the value */
};

/* rule.flags */
#define RULE_DEREF  1u /* the CFA is the word at base + offset */
#define RULE_SIGNAL 2u /* the caller was interrupted, it made no call */

struct unwind_rule {
	uint8_t kind;     /* enum rule_kind */
	uint8_t flags;    /* RULE_* bits */
	uint8_t cfa_base; /* RULE_SP or RULE_FP */
	uint8_t ra_base;  /* where the return address is saved */
	int32_t cfa_offset;
	uint8_t fp_base; /* where the caller's frame pointer is saved */
	int32_t ra_offset : 24;
	int32_t fp_offset;
};

_Static_assert(sizeof(struct unwind_rule) == 16, "two words");

#endif
