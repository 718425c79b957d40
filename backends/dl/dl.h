/* SPDX-License-Identifier: MIT */
/*
 * dl.h - the two tables of the boundary-tag allocator.
 *
 * "dl" is the small and quick one. "dl-checked" puts a footer with a secret
 * behind every block, verifies it on every free and realloc, and keeps no
 * thread caches, so that each mistake is seen at the call that makes it.
 */
#ifndef AMUX_BACKENDS_DL_DL_H
#define AMUX_BACKENDS_DL_DL_H

#include <allocmux/backend.h>

extern const struct amux_backend amux_dl_backend;
extern const struct amux_backend amux_dl_checked_backend;

#endif
