/* SPDX-License-Identifier: MIT */
/*
 * livetable.c - the table's memory; the rest is inline in livetable.h.
 */
#include "livetable.h"

#include <stdlib.h>

#include "tool.h"

void livetable_init(struct livetable *table)
{
	table->room = 1024;
	table->count = 0;
	table->entries = tool_alloc(table->room * sizeof(*table->entries));
}

void livetable_fini(struct livetable *table)
{
	free(table->entries);
	table->entries = NULL;
}

void livetable_grow(struct livetable *table)
{
	struct livetable old = *table;

	table->room *= 2;
	table->entries = tool_alloc(table->room * sizeof(*table->entries));
	for (size_t i = 0; i < old.room; i++) {
		if (old.entries[i].addr != 0) {
			size_t at = livetable_index(table, old.entries[i].addr);

			while (table->entries[at].addr != 0) {
				at = (at + 1) & (table->room - 1);
			}
			table->entries[at] = old.entries[i];
		}
	}
	free(old.entries);
}
