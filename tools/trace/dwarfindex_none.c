/* SPDX-License-Identifier: MIT */
/*
 * dwarfindex_none.c - built instead of dwarfindex.c where libdw is missing.
 */
#include "dwarfindex.h"

#include <stddef.h>

#include "tool.h"

struct dwarfindex *dwarfindex_create(Elf *elf)
{
	static bool said;

	if (!said) {
		tool_error("note: no source lines, because this program was "
			   "built without libdw (elfutils)");
		said = true;
	}
	return NULL;
}

void dwarfindex_destroy(struct dwarfindex *index)
{
}

int dwarfindex_find(struct dwarfindex *index, uint64_t addr,
	struct dwarf_place places[DWARF_DEPTH_MAX])
{
	return 0;
}
