/* SPDX-License-Identifier: MIT */
/*
 * elfsym.c - see elfsym.h.
 */
#include "elfsym.h"

#include <elf.h>
#include <link.h>

#include "compiler.h"

/*
 * Not strcmp: a sanitizer's runtime in the program intercepts it, and may ask
 * us for its own first symbols before it can serve the call.
 */
static bool same_string(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static bool starts_with(const char *string, const char *prefix)
{
	while (*prefix && *string == *prefix) {
		string++;
		prefix++;
	}
	return !*prefix;
}

/* glibc relocates the addresses of the dynamic section, musl does not. */
static const void *dynamic_address(uintptr_t base, uintptr_t value)
{
	return (const void *)(value < base ? base + value : value);
}

static void read_dynamic(struct elf_object *object, const ElfW(Dyn) * dynamic)
{
	uintptr_t base = object->base;
	size_t soname = 0;

	for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++) {
		const void *addr = dynamic_address(base, d->d_un.d_ptr);

		switch (d->d_tag) {
		case DT_SYMTAB:
			object->symbols = addr;
			break;
		case DT_STRTAB:
			object->strings = addr;
			break;
		case DT_VERSYM:
			object->versions = addr;
			break;
		case DT_GNU_HASH:
			object->gnu_hash = addr;
			break;
		case DT_HASH:
			object->sysv_hash = addr;
			break;
		case DT_RELA:
			object->relocations[0].table = addr;
			break;
		case DT_RELASZ:
			object->relocations[0].count =
				d->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_JMPREL:
			object->relocations[1].table = addr;
			break;
		case DT_PLTRELSZ:
			object->relocations[1].count =
				d->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_RUNPATH:
		case DT_RPATH:
			object->has_run_path = true;
			break;
		case DT_SONAME:
			soname = d->d_un.d_val;
			break;
		default:
			break;
		}
	}
	if (soname && object->strings) {
		object->soname = object->strings + soname;
	}
}

static bool read_object(
	const struct dl_phdr_info *info, struct elf_object *object)
{
	const ElfW(Dyn) *dynamic = NULL;

	*object = (struct elf_object){
		.base = info->dlpi_addr,
		.name = info->dlpi_name,
		.start = UINTPTR_MAX,
	};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_DYNAMIC) {
			dynamic = (const void *)start;
		} else if (p->p_type == PT_GNU_RELRO) {
			object->relro_start = start;
			object->relro_end = start + p->p_memsz;
		} else if (p->p_type == PT_LOAD) {
			if (start < object->start) {
				object->start = start;
			}
			if (start + p->p_memsz > object->end) {
				object->end = start + p->p_memsz;
			}
			if (p->p_flags & PF_X) {
				object->code_start = start;
				object->code_end = start + p->p_memsz;
			}
		}
	}
	if (!dynamic) {
		return false;
	}
	read_dynamic(object, dynamic);
	return object->symbols && object->strings;
}

/* glibc has a soname, musl only a file name. */
static bool is_libc(const char *soname, const char *path)
{
	const char *file = path ? path : "";

	for (const char *c = file; *c; c++) {
		if (*c == '/') {
			file = c + 1;
		}
	}
	return (soname && same_string(soname, "libc.so.6")) ||
	       starts_with(file, "ld-musl-") || starts_with(file, "libc.musl-");
}

struct search {
	const void *addr; /* NULL: the C library is wanted */
	struct elf_object *object;
};

static int search_step(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;
	struct elf_object *object = search->object;

	if (!read_object(info, object)) {
		return 0;
	}
	if (search->addr) {
		uintptr_t addr = (uintptr_t)search->addr;

		return addr >= object->start && addr < object->end;
	}
	return is_libc(object->soname, object->name);
}

/* The loader's list for debuggers; see _r_debug(3), <link.h>. Not in musl. */
#pragma weak _r_debug

/*
 * Along the loader's own list, without calling anything: this may be the first
 * thing that happens in the process. The list only grows behind libc, which
 * is never unloaded, so that no lock is needed to get that far.
 */
static bool find_libc_in_link_maps(struct elf_object *object)
{
	const struct link_map *map = &_r_debug ? _r_debug.r_map : NULL;

	for (; map; map = map->l_next) {
		const ElfW(Ehdr) *header = (const void *)map->l_addr;
		struct elf_object found = {.base = map->l_addr};

		if (!map->l_ld) {
			continue;
		}
		read_dynamic(&found, map->l_ld);
		if (!is_libc(found.soname, map->l_name)) {
			continue;
		}

		struct dl_phdr_info info = {
			.dlpi_addr = map->l_addr,
			.dlpi_name = map->l_name,
			.dlpi_phdr =
				(const void *)(map->l_addr + header->e_phoff),
			.dlpi_phnum = header->e_phnum,
		};

		return read_object(&info, object);
	}
	return false;
}

bool elf_find_libc(struct elf_object *object)
{
	struct search search = {.object = object};

	return find_libc_in_link_maps(object) ||
	       dl_iterate_phdr(search_step, &search) != 0;
}

struct visit {
	int (*visit)(const struct elf_object *object, void *arg);
	void *arg;
};

static int visit_step(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct visit *visit = arg;
	struct elf_object object;

	return read_object(info, &object) ? visit->visit(&object, visit->arg)
					  : 0;
}

int elf_for_each(
	int (*visit)(const struct elf_object *object, void *arg), void *arg)
{
	struct visit step = {visit, arg};

	return dl_iterate_phdr(visit_step, &step);
}

bool elf_find_by_address(const void *addr, struct elf_object *object)
{
	struct search search = {.addr = addr, .object = object};

	return addr && dl_iterate_phdr(search_step, &search) != 0;
}

/* Is symbol number i a definition of name that new programs would bind to? */
static const ElfW(Sym) *
	match(const struct elf_object *object, uint32_t i, const char *name)
{
	enum { HIDDEN_VERSION = 0x8000 }; /* VERSYM_HIDDEN */
	const ElfW(Sym) *sym = (const ElfW(Sym) *)object->symbols + i;

	if (sym->st_shndx == SHN_UNDEF ||
		ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC ||
		(object->versions && (object->versions[i] & HIDDEN_VERSION)) ||
		!same_string(object->strings + sym->st_name, name)) {
		return NULL;
	}
	return sym;
}

static const ElfW(Sym) *
	gnu_lookup(const struct elf_object *object, const char *name)
{
	const uint32_t *table = object->gnu_hash;
	uint32_t bucket_count = table[0], first = table[1], words = table[2];
	const uint32_t *buckets =
		table + 4 + words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chain = buckets + bucket_count;
	uint32_t hash = 5381;

	for (const char *c = name; *c; c++) {
		hash = hash * 33 + (unsigned char)*c;
	}

	uint32_t i = bucket_count ? buckets[hash % bucket_count] : 0;

	if (i < first) {
		return NULL;
	}
	for (;; i++) {
		uint32_t entry = chain[i - first];
		const ElfW(Sym) *sym = NULL;

		/* Bit 0 marks the end of a chain, the rest is the hash. */
		if ((entry | 1) == (hash | 1)) {
			sym = match(object, i, name);
		}
		if (sym || (entry & 1)) {
			return sym;
		}
	}
}

static const ElfW(Sym) *
	sysv_lookup(const struct elf_object *object, const char *name)
{
	uint32_t bucket_count = object->sysv_hash[0];
	const uint32_t *buckets = object->sysv_hash + 2;
	const uint32_t *chain = buckets + bucket_count;
	uint32_t hash = 0;

	for (const char *c = name; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash ^= (hash >> 24) & 0xf0;
		hash &= 0x0fffffff;
	}
	for (uint32_t i = bucket_count ? buckets[hash % bucket_count] : 0; i;
		i = chain[i]) {
		const ElfW(Sym) *sym = match(object, i, name);

		if (sym) {
			return sym;
		}
	}
	return NULL;
}

void *elf_symbol(const struct elf_object *object, const char *name)
{
	const ElfW(Sym) *sym = NULL;

	if (object->gnu_hash) {
		sym = gnu_lookup(object, name);
	} else if (object->sysv_hash) {
		sym = sysv_lookup(object, name);
	}
	return sym ? (void *)(object->base + sym->st_value) : NULL;
}
