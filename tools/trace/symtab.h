/* SPDX-License-Identifier: MIT */
/*
 * symtab.h - an object's symbols by address.
 */
#ifndef AMUX_TOOLS_SYMTAB_H
#define AMUX_TOOLS_SYMTAB_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

struct symtab_entry {
	uint64_t addr;
	uint64_t size;    /* 0: not known */
	const char *name; /* in the ELF file */
	int rank;         /* the higher is preferred at one address */
};

struct symtab {
	struct symtab_entry *entries;
	size_t count;
};

/* From the two files of an object (each may be NULL), which must stay open. */
void symtab_init(struct symtab *table, Elf *main, Elf *debug);
void symtab_fini(struct symtab *table);

/* The (mangled) name of the function at an ELF address, or NULL. */
const char *symtab_find(const struct symtab *table, uint64_t addr);

#endif
