/* SPDX-License-Identifier: MIT */
/*
 * cfi.h - call frame information of an ELF object, as unwinding rules.
 */
#ifndef AMUX_TRACE_CFI_H
#define AMUX_TRACE_CFI_H

#include <stdint.h>

#include "unwind_rule.h"

/*
 * The rule for code address pc, by the .eh_frame_hdr section at `header` of
 * an object that is mapped at [start, end). Reads nothing outside that range.
 * Lock-free, async-signal-safe, never allocates.
 */
struct unwind_rule cfi_rule(
	uint64_t pc, const void *header, uint64_t start, uint64_t end);

#endif
