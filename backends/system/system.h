/* SPDX-License-Identifier: MIT */
/*
 * system.h - the backend `system`: libc's own malloc.
 */
#ifndef AMUX_BACKENDS_SYSTEM_H
#define AMUX_BACKENDS_SYSTEM_H

#include <stdio.h>

#include <malloc.h>

#include <allocmux/backend.h>

/*
 * What libc has beyond the table; NULL where it has not. Filled by
 * system_load(), then constant.
 */
struct system_extra {
	struct mallinfo (*mallinfo)(void);
	struct mallinfo2 (*mallinfo2)(void); /* glibc 2.33 */
	void (*malloc_stats)(void);
	int (*malloc_info)(int options, FILE *stream);
};

/*
 * The table, made of libc's functions themselves: no thunk, no recursion.
 * NULL if this process has no C library that can be found (a static program).
 * Never allocates. Call once.
 */
const struct amux_backend *system_load(void);

const struct system_extra *system_extra(void);

#endif
