/* SPDX-License-Identifier: MIT */
/*
 * badptr.h - what to do about a pointer that is nobody's.
 *
 * The line names the function, the pointer, the reason and the call site.
 * Then the process aborts, or with ALLOC_BAD_FREE=warn the block is left alone
 * and counted.
 */
#ifndef AMUX_BADPTR_H
#define AMUX_BADPTR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Can ptr, which lies in no backend's range, be a block of libc? It cannot if
 * it is misaligned, beyond 47 bits, or inside a loaded module. If not, this
 * reports it as `call`'s argument and, should that return, returns false.
 */
bool badptr_may_be_libc(const char *call, const void *ptr);

/* Report and abort, or report, count and return. */
void badptr_report(const char *call, const void *ptr, const char *what);

/* Reports so far (ALLOC_BAD_FREE=warn). */
uint64_t badptr_count(void);

#endif
