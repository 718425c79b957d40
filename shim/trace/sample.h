/* SPDX-License-Identifier: MIT */
/*
 * sample.h - the malloc family that records a sample of allocations.
 */
#ifndef AMUX_TRACE_SAMPLE_H
#define AMUX_TRACE_SAMPLE_H

#include <stdint.h>

#include "dispatch.h"

/* To be put in front of the plain table while mode sample runs. */
extern const struct dispatch_ops sample_ops;

/* Mean bytes between samples. Call before the first event. */
void sample_set_interval(uint64_t bytes);

/* In a forked child: no block is sampled. */
void sample_reset(void);

#endif
