/* SPDX-License-Identifier: MIT */
/*
 * waiting.h - the malloc family of a trace that is to begin later.
 */
#ifndef AMUX_TRACE_WAITING_H
#define AMUX_TRACE_WAITING_H

#include <stdint.h>

#include "dispatch.h"

extern const struct dispatch_ops waiting_ops;

/*
 * Begin so long from now, and not before so many bytes live; 0: no such
 * condition. Call before the table is put in front.
 */
void waiting_set(uint64_t delay_ns, uint64_t live_bytes);

#endif
