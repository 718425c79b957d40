/* SPDX-License-Identifier: MIT */
/*
 * extents.c - see extents.h.
 */
#include "extents.h"

#include <string.h>

#include "base/bits.h"
#include "base/check.h"
#include "base/os.h"

/* The index of the first extent that ends above addr. */
static size_t first_above(const struct extents *extents, uintptr_t addr)
{
	size_t low = 0, high = extents->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (extents->list[middle].end <= addr) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* Room for one more entry. */
static bool make_room(struct extents *extents)
{
	size_t page = os_page_size();
	size_t bytes = extents->capacity * sizeof(struct extent);
	size_t larger = bytes ? 2 * bytes : page;
	void *addr;

	if (extents->count < extents->capacity) {
		return true;
	}
	if (os_map(larger, &addr)) {
		return false;
	}
	if (bytes) {
		memcpy(addr, extents->list, bytes);
		os_unmap(extents->list, bytes);
	}
	extents->list = addr;
	extents->capacity = larger / sizeof(struct extent);
	return true;
}

static void remove_at(struct extents *extents, size_t i)
{
	extents->count--;
	memmove(&extents->list[i], &extents->list[i + 1],
		(extents->count - i) * sizeof(struct extent));
}

static bool insert_at(
	struct extents *extents, size_t i, uintptr_t start, uintptr_t end)
{
	if (!make_room(extents)) {
		return false;
	}
	memmove(&extents->list[i + 1], &extents->list[i],
		(extents->count - i) * sizeof(struct extent));
	extents->list[i] = (struct extent){start, end};
	extents->count++;
	return true;
}

bool extents_add(struct extents *extents, uintptr_t start, uintptr_t end)
{
	size_t i = first_above(extents, start);
	struct extent *next = i < extents->count ? &extents->list[i] : NULL;
	struct extent *previous = i > 0 ? &extents->list[i - 1] : NULL;
	bool joins_previous = previous && previous->end == start;
	bool joins_next = next && next->start == end;

	AMUX_ASSERT(start < end && (!next || next->start >= end));
	if (joins_previous && joins_next) {
		previous->end = next->end;
		remove_at(extents, i);
	} else if (joins_previous) {
		previous->end = end;
	} else if (joins_next) {
		next->start = start;
	} else {
		return insert_at(extents, i, start, end);
	}
	return true;
}

/* Cut [start, start + size) out of extent i. */
static bool cut(struct extents *extents, size_t i, uintptr_t start, size_t size)
{
	struct extent *e = &extents->list[i];
	uintptr_t end = e->end;

	if (start > e->start && start + size < end) {
		if (!insert_at(extents, i + 1, start + size, end)) {
			return false;
		}
		extents->list[i].end = start;
	} else if (start > e->start) {
		e->end = start;
	} else if (start + size < end) {
		e->start = start + size;
	} else {
		remove_at(extents, i);
	}
	return true;
}

uintptr_t extents_take(
	struct extents *extents, size_t size, size_t align, uintptr_t hint)
{
	size_t at = first_above(extents, hint);

	if (hint && at < extents->count && extents->list[at].start <= hint &&
		extents->list[at].end - hint >= size) {
		return cut(extents, at, hint, size) ? hint : 0;
	}
	for (size_t i = 0; i < extents->count; i++) {
		struct extent *e = &extents->list[i];
		uintptr_t start = round_up(e->start, align);

		if (start < e->end && e->end - start >= size) {
			return cut(extents, i, start, size) ? start : 0;
		}
	}
	return 0;
}

bool extents_is_valid(const struct extents *extents)
{
	for (size_t i = 0; i < extents->count; i++) {
		const struct extent *e = &extents->list[i];

		if (e->start >= e->end || (i > 0 && e[-1].end >= e->start)) {
			return false;
		}
	}
	return extents->count <= extents->capacity;
}
