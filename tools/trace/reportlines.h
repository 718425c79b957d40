/* SPDX-License-Identifier: MIT */
/*
 * reportlines.h - a call site and its stacks, as lines of text.
 */
#ifndef AMUX_TOOLS_REPORTLINES_H
#define AMUX_TOOLS_REPORTLINES_H

#include "calltree.h"
#include "reporttext.h"

/* Cost, function and source, and the call path that costs most. */
void lines_site(const struct view *view, const struct report_options *options,
	const struct flat_entry *entry, enum metric metric);

/* The frames of a stack, one a line; `skip` innermost ones left out. */
void lines_stack(const struct view *view, const struct report_options *options,
	const struct view_stack *stack, uint32_t skip, int indent);

/* The stack of the call site that costs most, or NULL. */
const struct view_stack *lines_top_stack(
	const struct view *view, uint32_t place, enum metric metric);

#endif
