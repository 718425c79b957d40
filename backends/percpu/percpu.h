/* SPDX-License-Identifier: MIT */
/*
 * percpu.h - the per-CPU arena allocator as a backend. See docs/percpu.md.
 */
#ifndef AMUX_PERCPU_H
#define AMUX_PERCPU_H

#include <allocmux/backend.h>

extern const struct amux_backend amux_percpu_backend;

#endif
