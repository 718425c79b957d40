/* SPDX-License-Identifier: MIT */
/* subjects.h - from --backends and --baseline to the subjects of a plan. */
#ifndef AMUX_TOOLS_SUBJECTS_H
#define AMUX_TOOLS_SUBJECTS_H

#include "plan.h"

/*
 * `list` as plan_add_subjects() takes it, and `all` for every backend of this
 * machine. Without a baseline (NULL) it is `system`, which is added first.
 * Returns 0, or -1 when it has been said what is wrong.
 */
int subjects_set(struct plan *plan, const char *list, const char *baseline);

#endif
