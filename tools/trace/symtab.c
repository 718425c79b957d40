/* SPDX-License-Identifier: MIT */
/*
 * symtab.c - symbol tables, sorted once; a look-up is a binary search.
 */
#include "symtab.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static void entry_add(struct symtab *table, const struct symtab_entry *entry)
{
	size_t count = table->count;

	if ((count & (count - 1)) == 0) {
		table->entries = tool_realloc(table->entries,
			(count ? 2 * count : 1) * sizeof(*table->entries));
	}
	table->entries[table->count++] = *entry;
}

static void symbol_take(
	struct symtab *table, Elf *elf, size_t names, const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);
	struct symtab_entry entry = {
		.addr = symbol->st_value, .size = symbol->st_size};

	if (symbol->st_shndx == SHN_UNDEF ||
		(type != STT_FUNC && type != STT_GNU_IFUNC &&
			type != STT_NOTYPE)) {
		return;
	}
	entry.name = elf_strptr(elf, names, symbol->st_name);
	/* "$x" and the like mark code on ARM; they are no functions. */
	if (entry.name == NULL || entry.name[0] == '\0' ||
		entry.name[0] == '$') {
		return;
	}
	entry.rank = (type == STT_NOTYPE ? 0 : 4) +
		     (GELF_ST_BIND(symbol->st_info) == STB_GLOBAL        ? 2
			     : GELF_ST_BIND(symbol->st_info) == STB_WEAK ? 1
									 : 0);
	entry_add(table, &entry);
}

static bool section_take(struct symtab *table, Elf *elf, unsigned type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t before = table->count;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		Elf_Data *data;
		GElf_Sym symbol;

		if (gelf_getshdr(section, &header) == NULL ||
			header.sh_type != type) {
			continue;
		}
		data = elf_getdata(section, NULL);
		for (int i = 1;
			data != NULL && gelf_getsym(data, i, &symbol) != NULL;
			i++) {
			symbol_take(table, elf, header.sh_link, &symbol);
		}
	}
	return table->count > before;
}

static int entry_compare(const void *a, const void *b)
{
	const struct symtab_entry *x = a;
	const struct symtab_entry *y = b;

	if (x->addr != y->addr) {
		return x->addr < y->addr ? -1 : 1;
	}
	if (x->rank != y->rank) {
		return x->rank < y->rank ? -1 : 1;
	}
	/* So that the choice does not depend on the order in the file. */
	return -strcmp(x->name, y->name);
}

void symtab_init(struct symtab *table, Elf *main, Elf *debug)
{
	size_t kept = 0;

	memset(table, 0, sizeof(*table));
	if (!(debug != NULL && section_take(table, debug, SHT_SYMTAB)) &&
		main != NULL && main != debug) {
		section_take(table, main, SHT_SYMTAB);
	}
	if (main != NULL) {
		section_take(table, main, SHT_DYNSYM);
	}
	if (table->count == 0) {
		return;
	}
	qsort(table->entries, table->count, sizeof(*table->entries),
		entry_compare);
	for (size_t i = 0; i < table->count; i++) {
		if (i + 1 < table->count &&
			table->entries[i + 1].addr == table->entries[i].addr) {
			continue; /* the last of them is the best */
		}
		table->entries[kept++] = table->entries[i];
	}
	table->count = kept;
}

void symtab_fini(struct symtab *table)
{
	free(table->entries);
	table->entries = NULL;
	table->count = 0;
}

const char *symtab_find(const struct symtab *table, uint64_t addr)
{
	size_t low = 0;
	size_t high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->entries[middle].addr <= addr) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	/* A symbol may lie inside another: go back some. */
	for (int back = 0; low > 0 && back < 8; back++, low--) {
		const struct symtab_entry *e = &table->entries[low - 1];

		if (e->size == 0 ? back == 0 : addr - e->addr < e->size) {
			return e->name;
		}
	}
	return NULL;
}
