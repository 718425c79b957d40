/* SPDX-License-Identifier: MIT */
/*
 * substitute.h - {NAME} in commands.
 *
 * {backend} is the subject's label, {run} the number of the run (0 and up,
 * warm-ups included), {pid} the server's process id, and a sweep's own name its
 * value. Other braces stay as they are.
 */
#ifndef AMUX_TOOLS_SUBSTITUTE_H
#define AMUX_TOOLS_SUBSTITUTE_H

#include "plan.h"

struct place {
	const struct plan *plan;
	size_t point;
	size_t subject;
	unsigned run;
	int pid; /* 0: there is no server */
};

/* The caller frees the result. */
char *substitute(const struct place *place, const char *text);

/* The same for an argument vector, NULL at its end. */
char **substitute_all(const struct place *place, char *const *argv);
void strings_free(char **strings);

#endif
