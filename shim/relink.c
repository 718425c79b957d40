/* SPDX-License-Identifier: MIT */
/*
 * relink.c - see relink.h. Source: ELF gABI, and the psABI supplements of
 * x86-64 and aarch64 for the relocation types.
 */
#include "relink.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bits.h"
#include "base/elfsym.h"
#include "base/os.h"
#include "base/syscall.h"

#if defined(__x86_64__)
enum {
	RELOC_JUMP_SLOT = R_X86_64_JUMP_SLOT,
	RELOC_GLOB_DAT = R_X86_64_GLOB_DAT,
	RELOC_ADDRESS = R_X86_64_64
};
#elif defined(__aarch64__)
enum {
	RELOC_JUMP_SLOT = R_AARCH64_JUMP_SLOT,
	RELOC_GLOB_DAT = R_AARCH64_GLOB_DAT,
	RELOC_ADDRESS = R_AARCH64_ABS64
};
#endif

/* A module, as far as its slots need it. */
struct module {
	uintptr_t base, start, end;
	uintptr_t relro_start, relro_end;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * tables[2]; /* DT_RELA, DT_JMPREL */
	size_t counts[2];
};

struct work {
	const struct relink_rule *rules;
	size_t rule_count;
	uintptr_t own_base;
	int rewritten;
	int error;
};

static const void *dynamic_address(uintptr_t base, uintptr_t value)
{
	return (const void *)(value < base ? base + value : value);
}

static void read_dynamic(struct module *module, const ElfW(Dyn) * dynamic)
{
	for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++) {
		const void *addr = dynamic_address(module->base, d->d_un.d_ptr);

		switch (d->d_tag) {
		case DT_SYMTAB:
			module->symbols = addr;
			break;
		case DT_STRTAB:
			module->strings = addr;
			break;
		case DT_RELA:
			module->tables[0] = addr;
			break;
		case DT_RELASZ:
			module->counts[0] = d->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_JMPREL:
			module->tables[1] = addr;
			break;
		case DT_PLTRELSZ:
			module->counts[1] = d->d_un.d_val / sizeof(ElfW(Rela));
			break;
		default:
			break;
		}
	}
}

static bool read_module(const struct dl_phdr_info *info, struct module *module)
{
	const ElfW(Dyn) *dynamic = NULL;
	size_t page = os_page_size();

	memset(module, 0, sizeof(*module));
	module->base = info->dlpi_addr;
	module->start = UINTPTR_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;
		uintptr_t end = start + p->p_memsz;

		if (p->p_type == PT_DYNAMIC) {
			dynamic = (const void *)start;
		} else if (p->p_type == PT_GNU_RELRO) {
			module->relro_start = round_down(start, page);
			module->relro_end = round_down(end, page);
		} else if (p->p_type == PT_LOAD) {
			module->start =
				start < module->start ? start : module->start;
			module->end = end > module->end ? end : module->end;
		}
	}
	if (dynamic) {
		read_dynamic(module, dynamic);
	}
	return module->symbols && module->strings;
}

static const struct relink_rule *find_rule(
	const struct work *work, const char *name)
{
	for (size_t i = 0; i < work->rule_count; i++) {
		if (!strcmp(work->rules[i].name, name)) {
			return &work->rules[i];
		}
	}
	return NULL;
}

static bool in_range(uintptr_t addr, const void *start, const void *end)
{
	return addr >= (uintptr_t)start && addr < (uintptr_t)end;
}

/* Store through read-only pages if need be. */
static int store(const struct module *module, void **slot, void *value)
{
	uintptr_t addr = (uintptr_t)slot;
	size_t page = os_page_size();
	void *start = (void *)round_down(addr, page);
	bool read_only =
		addr >= module->relro_start && addr < module->relro_end;

	if (read_only &&
		sys3(SYS_mprotect, start, page, PROT_READ | PROT_WRITE)) {
		return -EACCES;
	}
	__atomic_store_n(slot, value, __ATOMIC_RELEASE);
	if (read_only) {
		sys3(SYS_mprotect, start, page, PROT_READ);
	}
	return 0;
}

static void relink_slot(
	struct work *work, const struct module *module, const ElfW(Rela) * rela)
{
	unsigned type = (unsigned)ELF64_R_TYPE(rela->r_info);
	const ElfW(Sym) *sym = &module->symbols[ELF64_R_SYM(rela->r_info)];
	void **slot = (void **)(module->base + rela->r_offset);
	const struct relink_rule *rule;
	uintptr_t value;
	bool is_lazy;

	if ((type != RELOC_JUMP_SLOT && type != RELOC_GLOB_DAT &&
		    type != RELOC_ADDRESS) ||
		rela->r_addend != 0) {
		return;
	}
	rule = find_rule(work, module->strings + sym->st_name);
	if (!rule) {
		return;
	}
	value = (uintptr_t)*slot;
	/* An unbound slot points back into its module's own PLT. */
	is_lazy = rule->unbound && type == RELOC_JUMP_SLOT &&
		  value >= module->start && value < module->end;
	if (value == (uintptr_t)rule->to ||
		(!is_lazy && !in_range(value, rule->start, rule->end))) {
		return;
	}
	if (store(module, slot, rule->to)) {
		work->error = -EACCES;
	} else {
		work->rewritten++;
	}
}

static int relink_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct work *work = arg;
	struct module module;

	if (!read_module(info, &module) || module.base == work->own_base) {
		return 0;
	}
	for (int t = 0; t < 2; t++) {
		for (size_t i = 0; i < module.counts[t]; i++) {
			relink_slot(work, &module, &module.tables[t][i]);
		}
	}
	return 0;
}

int relink_apply(const struct relink_rule *rules, size_t count)
{
	struct elf_object self;
	struct work work = {.rules = rules, .rule_count = count};

	if (!elf_find_by_address((const void *)relink_apply, &self)) {
		return -ENOENT;
	}
	work.own_base = self.base;
	dl_iterate_phdr(relink_module, &work);
	return work.error ? work.error : work.rewritten;
}
