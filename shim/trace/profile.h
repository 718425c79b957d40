/* SPDX-License-Identifier: MIT */
/*
 * profile.h - the malloc family that counts per call site.
 */
#ifndef AMUX_TRACE_PROFILE_H
#define AMUX_TRACE_PROFILE_H

#include "dispatch.h"

/* To be put in front of the plain table while mode profile runs. */
extern const struct dispatch_ops profile_ops;

#endif
