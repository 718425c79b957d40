/* SPDX-License-Identifier: MIT */
/*
 * elfsym.h - find a function in one loaded object, without the dynamic linker.
 *
 * dlsym(3) allocates, takes the loader's lock and finds whoever comes first.
 * We need libc's own malloc even though we, and perhaps others, stand in front
 * of it, and we need it inside the very first malloc of the process. So we
 * read the object's symbol table as it lies in memory (ELF gABI, chapter 5;
 * the GNU hash section as in binutils' and glibc's headers).
 *
 * Never allocates. Calls dl_iterate_phdr(3), hence not for signal handlers.
 */
#ifndef AMUX_BASE_ELFSYM_H
#define AMUX_BASE_ELFSYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A loaded object, as it lies in memory. Caller's storage. */
struct elf_object {
	uintptr_t base;                 /* load address */
	uintptr_t start, end;           /* all of its segments */
	uintptr_t code_start, code_end; /* its executable segment */
	const char *name;               /* path as the loader knows it */
	bool has_run_path;              /* DT_RUNPATH or DT_RPATH */
	const char *soname;             /* DT_SONAME or NULL */
	const void *symbols;            /* DT_SYMTAB */
	const char *strings;            /* DT_STRTAB */
	const uint16_t *versions;       /* DT_VERSYM or NULL */
	const uint32_t *gnu_hash;       /* DT_GNU_HASH or NULL */
	const uint32_t *sysv_hash;      /* DT_HASH or NULL */

	/* Relocations: DT_RELA and DT_JMPREL, and what is read-only after. */
	struct elf_relocations {
		const void *table; /* ElfW(Rela)[count] */
		size_t count;
	} relocations[2];
	uintptr_t relro_start, relro_end;
};

/* The C library of this process (glibc or musl). False if there is none, as
 * in a static program. */
bool elf_find_libc(struct elf_object *object);

/* Visit every loaded object; a non-zero result of visit ends it. */
int elf_for_each(
	int (*visit)(const struct elf_object *object, void *arg), void *arg);

/* The object that contains addr. */
bool elf_find_by_address(const void *addr, struct elf_object *object);

/* The default version of a defined function or object; NULL if absent. */
void *elf_symbol(const struct elf_object *object, const char *name);

#endif
