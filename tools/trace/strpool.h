/* SPDX-License-Identifier: MIT */
/*
 * strpool.h - equal texts once, so that they compare by pointer.
 */
#ifndef AMUX_TOOLS_STRPOOL_H
#define AMUX_TOOLS_STRPOOL_H

#include <stddef.h>
#include <stdint.h>

struct strpool {
	char **texts; /* open addressing */
	size_t room;  /* a power of two, or 0 */
	size_t count;
};

/* The pool's copy of `text`; lives as long as the pool. */
const char *strpool_add(struct strpool *pool, const char *text);

void strpool_fini(struct strpool *pool);

#endif
