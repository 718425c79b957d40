/* SPDX-License-Identifier: MIT */
/*
 * log.h - the only way this library speaks.
 *
 * One call is one line on descriptor 2, written by one write(2), prefixed
 * "allocmux: ". No stdio, no locale, no allocation; async-signal-safe; errno
 * is kept. A line longer than 1 KiB is cut. Silence is the rule: lines are for
 * errors and for what the user asked to see.
 *
 * Conversions: %s %d %u %x %c %p %%, with the length modifiers l and z.
 */
#ifndef AMUX_BASE_LOG_H
#define AMUX_BASE_LOG_H

#include <stdarg.h>
#include <stddef.h>

#include "compiler.h"

/* Write one line; the newline is added here. */
void log_line(const char *format, ...) AMUX_PRINTF(1, 2);

/*
 * Format into a caller's buffer like snprintf(3), with the conversions above.
 * Returns the length written, which is at most size - 1; always terminates.
 */
size_t log_format(char *buf, size_t size, const char *format, ...)
	AMUX_PRINTF(3, 4);
size_t log_vformat(char *buf, size_t size, const char *format, va_list args)
	AMUX_PRINTF(3, 0);

#endif
