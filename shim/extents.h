/* SPDX-License-Identifier: MIT */
/*
 * extents.h - the free address ranges of a window.
 *
 * A sorted array of disjoint, non-adjacent ranges. First fit from the bottom,
 * so that a library's mappings stay together. Not thread-safe; the caller
 * holds a lock.
 */
#ifndef AMUX_EXTENTS_H
#define AMUX_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct extent {
	uintptr_t start, end;
};

struct extents {
	struct extent *list; /* mapped by us, grown by doubling */
	size_t count, capacity;
};

/* Add [start, end), which is not in the set. False if out of memory. */
bool extents_add(struct extents *extents, uintptr_t start, uintptr_t end);

/*
 * Take `size` bytes aligned to `align` (a power of two): at `hint` if it is
 * free there, else at the lowest place. 0 if there is none.
 */
uintptr_t extents_take(
	struct extents *extents, size_t size, size_t align, uintptr_t hint);

/* Sorted, disjoint, not empty, not adjacent. */
bool extents_is_valid(const struct extents *extents);

#endif
