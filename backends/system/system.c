/* SPDX-License-Identifier: MIT */
/*
 * system.c - libc's own malloc, taken from libc's own symbol table.
 *
 * Not by dlsym, which allocates, and not by the private names __libc_malloc
 * and friends, which tcmalloc, mimalloc and TBB define too and which libc may
 * drop: the public names, looked up in libc alone. So `system` is usable
 * within the first malloc of the process, and there is no need for a bootstrap
 * arena: until another backend is ready, libc serves, and its blocks go home
 * like any other owner's.
 */
#include "system.h"

#include <string.h>

#include "elfsym.h"

static struct {
	struct amux_backend table; /* sync: set in system_load, then constant */
	struct system_extra extra; /* sync: as table */
} g;

static void system_stats(struct amux_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats->size = sizeof(*stats);
	if (!g.extra.mallinfo2) {
		return;
	}

	struct mallinfo2 info = g.extra.mallinfo2();

	stats->live_bytes = info.uordblks + info.hblkhd;
	stats->cached_bytes = info.fordblks;
	stats->mapped_bytes = info.arena + info.hblkhd;
	stats->active_bytes = stats->mapped_bytes - info.keepcost;
	stats->reserved_bytes = stats->mapped_bytes;
	stats->large_bytes = info.hblkhd;
	stats->large_blocks = info.hblks;
}

const struct system_extra *system_extra(void)
{
	return &g.extra;
}

const struct amux_backend *system_load(void)
{
	struct elf_object libc;

	if (!elf_find_libc(&libc)) {
		return NULL;
	}
	g.table = (struct amux_backend){
		.abi = AMUX_BACKEND_ABI,
		.size = sizeof(g.table),
		.name = "system",
		.summary = "libc's own malloc, untouched",
		.malloc = elf_symbol(&libc, "malloc"),
		.free = elf_symbol(&libc, "free"),
		.calloc = elf_symbol(&libc, "calloc"),
		.realloc = elf_symbol(&libc, "realloc"),
		.memalign = elf_symbol(&libc, "memalign"),
		.usable_size = elf_symbol(&libc, "malloc_usable_size"),
		.trim = elf_symbol(&libc, "malloc_trim"),
		.option = elf_symbol(&libc, "mallopt"),
		.stats = system_stats,
	};
	if (!g.table.memalign) {
		g.table.memalign = elf_symbol(&libc, "aligned_alloc");
	}
	g.extra = (struct system_extra){
		.mallinfo = elf_symbol(&libc, "mallinfo"),
		.mallinfo2 = elf_symbol(&libc, "mallinfo2"),
		.malloc_stats = elf_symbol(&libc, "malloc_stats"),
		.malloc_info = elf_symbol(&libc, "malloc_info"),
	};
	return g.table.malloc && g.table.free && g.table.usable_size ? &g.table
								     : NULL;
}
