/* SPDX-License-Identifier: MIT */
/*
 * owner.h - which backend does this address belong to?
 *
 * One byte per 1 GiB granule of the 47-bit address space (128 KiB in all, of
 * which a process touches a page or two), filled when a
 * backend reserves a range, read by free(), realloc(), malloc_usable_size().
 * A granule that no range covers whole is marked OWNER_MIXED, and the answer
 * is in a sorted table of ranges.
 *
 * Invariants:
 *   - ranges never overlap; each belongs to one owner while registered;
 *   - owner_of(p) never dereferences p, so any bit pattern is a legal argument;
 *   - libc owns whatever lies in no range: the only sound rule about libc.
 * Price of owner_of(): two shifts, one branch, one byte load. Lock-free and
 * async-signal-safe; register and unregister take a lock.
 * Not here: what to do with a foreign pointer (dispatch.c decides).
 */
#ifndef AMUX_OWNER_H
#define AMUX_OWNER_H

#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/bits.h"
#include "base/compiler.h"

enum {
	OWNER_LIBC = 0,
	OWNER_FIRST = 1,
	OWNER_LIMIT = 64, /* ids are below this */
	OWNER_MIXED = 255
};

#define OWNER_SHIFT    30
#define OWNER_GRANULE  ((size_t)1 << OWNER_SHIFT)
#define OWNER_GRANULES ((size_t)1 << (ADDR_BITS - OWNER_SHIFT))

/* sync: atomic; written under the owner lock */
extern AMUX_HIDDEN _Atomic uint8_t owner_map[OWNER_GRANULES];

unsigned owner_of_mixed(uintptr_t addr);

AMUX_ALWAYS_INLINE unsigned owner_of(const void *ptr)
{
	uintptr_t addr = (uintptr_t)ptr;

	if (unlikely(addr >> ADDR_BITS)) {
		return OWNER_LIBC;
	}
	/*
	 * relaxed: the thread that asks got ptr from an allocation that came
	 * after the registration, through whatever passed it the pointer.
	 */
	unsigned id = load_relaxed(&owner_map[addr >> OWNER_SHIFT]);

	if (unlikely(id == OWNER_MIXED)) {
		return owner_of_mixed(addr);
	}
	return id;
}

/*
 * [addr, addr + size) belongs to id from now on. 0, -EINVAL if the range is
 * empty, beyond 47 bits or overlaps another, or -ENOMEM.
 */
int owner_register(const void *addr, size_t size, unsigned id);

/*
 * [addr, addr + size) belongs to nobody from now on. Parts that were not
 * registered are skipped; a range may be split. 0, or -ENOMEM if a split finds
 * no memory (then nothing has changed).
 */
int owner_unregister(const void *addr, size_t size);

/* The registered ranges in address order, for tests and status. */
struct owner_range {
	uintptr_t start, end;
	unsigned id;
};

/* Up to limit ranges into out; the number there are. Takes the owner lock. */
size_t owner_ranges(struct owner_range *out, size_t limit);

void owner_prefork(void);
void owner_postfork(void);

#endif
