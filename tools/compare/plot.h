/* SPDX-License-Identifier: MIT */
/* plot.h - compare's results drawn by gnuplot(1). */
#ifndef AMUX_TOOLS_PLOT_H
#define AMUX_TOOLS_PLOT_H

#include "view.h"

/*
 * Can `path` be drawn: is it .svg or .png, and is there a gnuplot? Returns 0,
 * or -1 when it has been said what is missing; asked before hours of runs.
 */
int plot_check(const char *path);

/* Draw into `path`. Returns 0, or -1 when it has been reported why not. */
int plot_write(const struct view *view, const char *path);

#endif
