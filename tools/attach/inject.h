/* SPDX-License-Identifier: MIT */
/*
 * inject.h - load a library into a running program and call it.
 */
#ifndef AMUX_TOOLS_INJECT_H
#define AMUX_TOOLS_INJECT_H

#include "image.h"
#include "target.h"

/*
 * Let a thread of the target dlopen(3) the library at `path`, as the target
 * sees it, and call its `int function(void)`; `libc` is among `images`. 0, or
 * the exit status after one line on stderr; what function returned is in
 * *result. Whatever fails, the thread goes on where it was.
 */
int inject(const struct target *target, const struct images *images,
	const struct image *libc, const char *path, const char *function,
	int *result);

#endif
