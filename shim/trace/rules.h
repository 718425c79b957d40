/* SPDX-License-Identifier: MIT */
/*
 * rules.h - the unwinding rule of any code address, derived once.
 */
#ifndef AMUX_TRACE_RULES_H
#define AMUX_TRACE_RULES_H

#include <stdint.h>

#include "base/atomic.h"
#include "unwind_rule.h"

/*
 * The rule for the code at pc (for a return address: minus 1). Lock-free but
 * for growth of the table, which is skipped when somebody else grows it;
 * async-signal-safe; never allocates through malloc's family; takes no lock of
 * the dynamic linker.
 */
struct unwind_rule rules_find(uint64_t pc);

/* Counts unloaded objects. Read it through rules_epoch(). */
extern _Atomic uint32_t rules_epoch_now;

/* What was learned about code in an older epoch may be wrong. One load. */
static inline uint32_t rules_epoch(void)
{
	return load_relaxed(&rules_epoch_now);
}

/* An object was unloaded (after the fact). */
void rules_advance_epoch(void);

#endif
