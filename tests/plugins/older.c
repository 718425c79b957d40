/* SPDX-License-Identifier: MIT */
/*
 * older.c - built when the table ended after the required slots: what follows
 * in memory is not a table, and must not be read as one.
 */
#include "good.h"

struct older_table {
	uint32_t abi, size;
	const char *name, *version, *summary;
	uint64_t caps;
	int (*init)(const struct amux_host *host);
	void *(*malloc)(size_t size);
	void (*free)(void *ptr);
	void *(*calloc)(size_t count, size_t size);
	void *(*realloc)(void *ptr, size_t size);
	void *(*memalign)(size_t align, size_t size);
	size_t (*usable_size)(void *ptr);
	uintptr_t not_a_slot[20];
};
_Static_assert(offsetof(struct older_table, not_a_slot) ==
		       offsetof(struct amux_backend, free_sized),
	"the older table is the beginning of the present one");

extern const struct older_table allocmux_backend;
const struct older_table allocmux_backend = {
	.abi = AMUX_BACKEND_ABI,
	.size = offsetof(struct older_table, not_a_slot),
	.name = "older",
	.init = good_init,
	.malloc = good_malloc,
	.free = good_free,
	.memalign = good_memalign,
	.usable_size = good_usable_size,
	.not_a_slot = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1},
};
