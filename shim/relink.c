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

struct work {
	const struct relink_rule *rules;
	size_t rule_count;
	uintptr_t own_base;
	int rewritten;
	int error;
};

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
static int store(const struct elf_object *object, void **slot, void *value)
{
	uintptr_t addr = (uintptr_t)slot;
	size_t page = os_page_size();
	void *start = (void *)round_down(addr, page);
	/* The loader protects whole pages of the RELRO segment. */
	bool read_only = addr >= round_down(object->relro_start, page) &&
			 addr < round_down(object->relro_end, page);

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

static void relink_slot(struct work *work, const struct elf_object *object,
	const ElfW(Rela) * rela)
{
	unsigned type = (unsigned)ELF64_R_TYPE(rela->r_info);
	const ElfW(Sym) *sym =
		(const ElfW(Sym) *)object->symbols + ELF64_R_SYM(rela->r_info);
	void **slot = (void **)(object->base + rela->r_offset);
	const struct relink_rule *rule;
	uintptr_t value;
	bool is_lazy;

	if ((type != RELOC_JUMP_SLOT && type != RELOC_GLOB_DAT &&
		    type != RELOC_ADDRESS) ||
		rela->r_addend != 0) {
		return;
	}
	rule = find_rule(work, object->strings + sym->st_name);
	if (!rule) {
		return;
	}
	value = (uintptr_t)*slot;
	/* An unbound slot points back into its module's own PLT. */
	is_lazy = rule->unbound && type == RELOC_JUMP_SLOT &&
		  value >= object->start && value < object->end;
	if (value == (uintptr_t)rule->to ||
		(!is_lazy && !in_range(value, rule->start, rule->end))) {
		return;
	}
	if (store(object, slot, rule->to)) {
		work->error = -EACCES;
	} else {
		work->rewritten++;
	}
}

static int relink_object(const struct elf_object *object, void *arg)
{
	struct work *work = arg;

	if (object->base == work->own_base) {
		return 0;
	}
	for (int t = 0; t < 2; t++) {
		const ElfW(Rela) *table = object->relocations[t].table;

		for (size_t i = 0; i < object->relocations[t].count; i++) {
			relink_slot(work, object, &table[i]);
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
	elf_for_each(relink_object, &work);
	return work.error ? work.error : work.rewritten;
}

int relink_one(const struct elf_object *object, const struct relink_rule *rules,
	size_t count)
{
	struct work work = {.rules = rules, .rule_count = count};

	relink_object(object, &work);
	return work.error ? work.error : work.rewritten;
}
