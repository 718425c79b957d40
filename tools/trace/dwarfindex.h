/* SPDX-License-Identifier: MIT */
/*
 * dwarfindex.h - from an address to functions, inlined ones too, and lines.
 *
 * An object's units are indexed once; a unit's functions and lines when the
 * first address falls into it; a function's inlined calls when the first
 * address falls into that.
 */
#ifndef AMUX_TOOLS_DWARFINDEX_H
#define AMUX_TOOLS_DWARFINDEX_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#define DWARF_DEPTH_MAX 64

/* Texts live as long as the index. */
struct dwarf_place {
	const char *name; /* or NULL */
	const char *file; /* or NULL */
	int line;         /* 0: unknown */
	bool mangled;     /* the name is a linkage name */
};

struct dwarfindex;

/* Of an ELF file that stays open; NULL: no debug information to read. */
struct dwarfindex *dwarfindex_create(Elf *elf);
void dwarfindex_destroy(struct dwarfindex *index);

/* Places of an ELF address, the innermost first; returns their number. */
int dwarfindex_find(struct dwarfindex *index, uint64_t addr,
	struct dwarf_place places[DWARF_DEPTH_MAX]);

#endif
