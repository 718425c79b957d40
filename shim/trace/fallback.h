/* SPDX-License-Identifier: MIT */
/*
 * fallback.h - libunwind, for frames that rules do not express.
 *
 * Loaded privately: linking it, or loading it globally, would hand the
 * program's backtrace() and _Unwind_* functions to it.
 */
#ifndef AMUX_TRACE_FALLBACK_H
#define AMUX_TRACE_FALLBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Load it. Allocates and takes the loader's lock: not from inside an
 * allocation. False if it is not installed; then stacks end at such frames.
 */
bool fallback_start(void);

/*
 * frames[0, count) are the inner frames of the calling thread's stack as far
 * as rules led. Replaces and extends them; returns the new count, at most
 * `most`. Takes the trace lock.
 */
size_t fallback_unwind(uint64_t *frames, size_t count, size_t most);

#endif
