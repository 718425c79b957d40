/* SPDX-License-Identifier: MIT */
/* load.h - results that print_json() wrote, read back. */
#ifndef AMUX_TOOLS_LOAD_H
#define AMUX_TOOLS_LOAD_H

#include "plan.h"

/*
 * Fill an initialised plan and its results from these files. Runs of several
 * files are pooled: backends and points of the same name are the same; metrics
 * must be equal in all. Returns 0, or -1 when it has been reported why not.
 */
int results_load(struct plan *plan, struct results *results,
	const char *const *paths, size_t count);

#endif
