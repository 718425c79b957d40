/* SPDX-License-Identifier: MIT */
/*
 * measure.h - run one command and take its measures.
 */
#ifndef AMUX_TOOLS_MEASURE_H
#define AMUX_TOOLS_MEASURE_H

#include "plan.h"
#include "spawn.h"

/*
 * The plan's command under one subject, start to end: fills the built-in
 * values of `run`, or run->failure. `capture` has the output afterwards.
 */
void measure_command(const struct plan *plan, const struct subject *subject,
	char *const *argv, const struct capture *capture, struct run *run);

/* What the subject's process must have mapped, or NULL. */
const char *subject_library(const struct subject *subject);

/* Seconds of CLOCK_MONOTONIC. */
double clock_seconds(void);

#endif
