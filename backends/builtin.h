/* SPDX-License-Identifier: MIT */
/*
 * builtin.h - the backends that are compiled in.
 */
#ifndef AMUX_BACKENDS_BUILTIN_H
#define AMUX_BACKENDS_BUILTIN_H

#include <allocmux/backend.h>

/* Built-in number i, counted from 0; NULL past the last. */
const struct amux_backend *builtin_backend(unsigned i);

#endif
