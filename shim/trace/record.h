/* SPDX-License-Identifier: MIT */
/*
 * record.h - the malloc family that writes every event, or a sample of them.
 */
#ifndef AMUX_TRACE_RECORD_H
#define AMUX_TRACE_RECORD_H

#include "dispatch.h"

/* To be put in front of the plain table while a trace runs. */
extern const struct dispatch_ops record_ops;

#endif
