/* SPDX-License-Identifier: MIT */
/*
 * meter.h - one line on a terminal while long work goes on.
 */
#ifndef AMUX_TOOLS_METER_H
#define AMUX_TOOLS_METER_H

#include <stdint.h>

/*
 * "WHAT: 42 %", at most five times a second, and only if stderr is a terminal.
 * total 0: unknown. Cheap enough to be called thousands of times a second.
 */
void meter_show(const char *what, uint64_t done, uint64_t total);

/* Wipe the line. */
void meter_clear(void);

#endif
