/* SPDX-License-Identifier: MIT */
/* execute.h - carry out a plan. */
#ifndef AMUX_TOOLS_EXECUTE_H
#define AMUX_TOOLS_EXECUTE_H

#include "plan.h"

/*
 * Run everything, interleaved: each round has every subject at every point
 * once, in an order drawn anew. results has been initialised; existing runs are
 * kept.
 */
void execute_plan(const struct plan *plan, struct results *results);

#endif
