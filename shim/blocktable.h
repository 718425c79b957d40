/* SPDX-License-Identifier: MIT */
/*
 * blocktable.h - owners by block, where they cannot be told by address range.
 *
 * The last resort for a library whose mappings we do not see (inline system
 * calls; loaded by dlopen into a process that the shim itself joined late):
 * each of its live blocks has an entry. A sharded hash of addresses; an insert
 * and its removal cost about 50 ns, a look-up 10.
 * Locks: one a shard (LOCK_RANK_OWNER). Not async-signal-safe.
 */
#ifndef AMUX_BLOCKTABLE_H
#define AMUX_BLOCKTABLE_H

#include <stdbool.h>

/*
 * ptr, aligned to 16 and below 47 bits, belongs to id. False if out of memory.
 */
bool blocktable_insert(const void *ptr, unsigned id);

/* Forget ptr; the owner it had, or OWNER_LIBC if it was not there. */
unsigned blocktable_remove(const void *ptr);

/* The owner of ptr, any bit pattern; OWNER_LIBC if it is not there. */
unsigned blocktable_find(const void *ptr);

void blocktable_prefork(void);
void blocktable_postfork(void);

#endif
