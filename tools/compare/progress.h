/* SPDX-License-Identifier: MIT */
/* progress.h - one line on a terminal: how far, what now, how long still. */
#ifndef AMUX_TOOLS_PROGRESS_H
#define AMUX_TOOLS_PROGRESS_H

#include <stddef.h>

struct progress {
	size_t total;
	size_t done;
	double begin;
	int columns; /* 0: stderr is no terminal, and nothing is shown */
};

void progress_begin(struct progress *progress, size_t total);
/* Before step `done` of `total`; `what` names it. */
void progress_show(struct progress *progress, size_t done, const char *what);
void progress_end(struct progress *progress);

#endif
