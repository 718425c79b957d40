/* SPDX-License-Identifier: MIT */
/*
 * safety.h - may this stopped thread be made to load a library?
 *
 * It may if it is nowhere inside what loading needs: the dynamic loader, an
 * allocator, fork, the creation of threads. Decided by unwinding its whole
 * stack by the unwind tables, which stripped files keep. A stack that cannot
 * be read to its end counts as unsafe, except where it enters code that was
 * made at run time (a JIT), which has no tables and is no loader or allocator.
 */
#ifndef AMUX_TOOLS_SAFETY_H
#define AMUX_TOOLS_SAFETY_H

#include <stdbool.h>

#include "image.h"
#include "ptracecall.h"

struct code_range {
	uintptr_t start, end;
};

enum { SAFETY_RANGES = 16 };

struct safety {
	const struct images *images;
	struct code_range libc_ranges[SAFETY_RANGES]; /* of libc's no-go code */
	int range_count;
};

/* Learn where libc's allocator and the like lie. */
bool safety_init(struct safety *safety, const struct images *images,
	const struct image *libc);

/* The thread is stopped. */
bool safety_is_safe(struct safety *safety, const struct tracee *tracee);

/* Is it in a system call? Such a thread is the better choice. */
bool safety_in_syscall(const struct tracee *tracee);

#endif
