/* SPDX-License-Identifier: MIT */
/*
 * takeover.c - see takeover.h.
 */
#include "takeover.h"

#include <errno.h>
#include <string.h>

#include <allocmux/allocmux.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/elfsym.h"
#include "base/log.h"
#include "family.h"
#include "loader.h"
#include "relink.h"

/* The replaceable operators of C++17 (and C++14's sized forms), mangled. */
static const char *const operators[] = {
	"_Znwm",
	"_Znam",
	"_ZnwmRKSt9nothrow_t",
	"_ZnamRKSt9nothrow_t",
	"_ZnwmSt11align_val_t",
	"_ZnamSt11align_val_t",
	"_ZnwmSt11align_val_tRKSt9nothrow_t",
	"_ZnamSt11align_val_tRKSt9nothrow_t",
	"_ZdlPv",
	"_ZdaPv",
	"_ZdlPvm",
	"_ZdaPvm",
	"_ZdlPvRKSt9nothrow_t",
	"_ZdaPvRKSt9nothrow_t",
	"_ZdlPvSt11align_val_t",
	"_ZdaPvSt11align_val_t",
	"_ZdlPvmSt11align_val_t",
	"_ZdaPvmSt11align_val_t",
	"_ZdlPvSt11align_val_tRKSt9nothrow_t",
	"_ZdaPvSt11align_val_tRKSt9nothrow_t",
};

enum {
	OPERATORS = sizeof(operators) / sizeof(operators[0]),
	MAX_FAMILY = 32,
	MAX_ALLOCATORS = 4,
	MAX_RULES = MAX_FAMILY + OPERATORS * MAX_ALLOCATORS
};

static struct {
	bool late;           /* sync: set by takeover_start, then constant */
	_Atomic bool active; /* sync: atomic; modules may need relinking */
	_Atomic bool behind; /* sync: atomic; a dlopen was a jump */
} g;

struct rules {
	struct relink_rule list[MAX_RULES];
	size_t count;
};

struct definition {
	const char *name;
	uintptr_t addr;
};

static int look_in(const struct elf_object *object, void *arg)
{
	struct definition *found = arg;

	found->addr = (uintptr_t)elf_symbol(object, found->name);
	return found->addr != 0;
}

/*
 * Where the linker binds `name` for everybody: the first definition in load
 * order. Not dlsym(RTLD_DEFAULT), which may answer with a PLT entry of a
 * program that is linked to a fixed address.
 */
static uintptr_t first_definition(const char *name)
{
	struct definition found = {.name = name};

	elf_for_each(look_in, &found);
	return found.addr;
}

static bool is_inside(uintptr_t addr, const struct elf_object *object)
{
	return addr >= object->start && addr < object->end;
}

/*
 * Slots of `name` that lead into `from` shall lead to `to`. Unbound ones too,
 * if the linker would send them into `from`.
 */
static void add_rule(struct rules *rules, const char *name,
	const struct elf_object *from, void *to)
{
	if (!to || rules->count == MAX_RULES) {
		return;
	}
	rules->list[rules->count++] = (struct relink_rule){
		.name = name,
		.start = (const void *)from->start,
		.end = (const void *)from->end,
		.to = to,
		.unbound = is_inside(first_definition(name), from),
	};
}

/* The objects that the C++ rules are about. */
struct cxx_objects {
	struct elf_object runtime; /* libstdc++ or libc++abi */
	struct elf_object allocators[MAX_ALLOCATORS];
	size_t allocator_count;
};

/*
 * A library that defines malloc and operators of its own is an allocator; one
 * with operators alone is the C++ runtime. A program that defines them is left
 * alone: it means it.
 */
static int sort_object(const struct elf_object *object, void *arg)
{
	struct cxx_objects *found = arg;
	bool is_program = !object->name || !*object->name;

	if (is_program || !elf_symbol(object, "_Znwm")) {
		return 0;
	}
	if (!elf_symbol(object, "malloc")) {
		if (!found->runtime.base && elf_symbol(object, "__cxa_throw")) {
			found->runtime = *object;
		}
	} else if (found->allocator_count < MAX_ALLOCATORS) {
		found->allocators[found->allocator_count++] = *object;
	}
	return 0;
}

static void add_operator_rules(struct rules *rules)
{
	struct cxx_objects found = {0};

	elf_for_each(sort_object, &found);
	if (!found.runtime.base) {
		return;
	}
	for (size_t a = 0; a < found.allocator_count; a++) {
		for (size_t i = 0; i < OPERATORS; i++) {
			add_rule(rules, operators[i], &found.allocators[a],
				elf_symbol(&found.runtime, operators[i]));
		}
	}
}

static void add_family_rules(struct rules *rules, const struct elf_object *libc)
{
	const struct family_member *member;

	for (size_t i = 0; (member = family_member(i)); i++) {
		add_rule(rules, member->name, libc,
			family_own_function(member->name));
	}
	add_rule(rules, "dlopen", libc, family_own_function("dlopen"));
	add_rule(rules, "dlsym", libc, family_own_function("dlsym"));
	add_rule(rules, "dlvsym", libc, family_own_function("dlvsym"));
}

static void relink(void)
{
	struct rules rules = {.count = 0};
	struct elf_object libc;

	if (g.late && elf_find_libc(&libc)) {
		add_family_rules(&rules, &libc);
	}
	add_operator_rules(&rules);
	if (rules.count && relink_apply(rules.list, rules.count) < 0) {
		log_line("some modules could not be relinked (mprotect was "
			 "refused); their blocks stay with libc");
	}
}

/* Is there a reason to look at modules that come later? */
static bool has_foreign_operators(void)
{
	struct cxx_objects found = {0};

	elf_for_each(sort_object, &found);
	return found.allocator_count > 0;
}

void takeover_start(void)
{
	struct elf_object libc, self;
	uintptr_t first = first_definition("malloc");
	bool ours = elf_find_by_address((const void *)takeover_start, &self) &&
		    is_inside(first, &self);

	/*
	 * Whose malloc does the process see first? Ours: we were preloaded.
	 * Libc's: we came late. Another's stands before us, and means it.
	 */
	g.late = elf_find_libc(&libc) && is_inside(first, &libc);
	if (g.late || (ours && has_foreign_operators())) {
		store_relaxed(&g.active, true);
		relink();
	}
}

void takeover_bind_library(const struct elf_object *library)
{
	static const char *const ours[] = {
		"mmap", "mmap64", "munmap", "mremap", "sbrk", "syscall"};
	static const char *const libcs[] = {"madvise", "mprotect"};
	enum {
		OURS = sizeof(ours) / sizeof(ours[0]),
		LIBCS = sizeof(libcs) / sizeof(libcs[0])
	};
	/* Whatever the slots hold now. */
	struct elf_object anything = {.end = UINTPTR_MAX};
	struct rules rules = {.count = 0};
	struct elf_object libc;

	for (size_t i = 0; i < OURS; i++) {
		add_rule(&rules, ours[i], &anything,
			family_own_function(ours[i]));
	}
	for (size_t i = 0; elf_find_libc(&libc) && i < LIBCS; i++) {
		add_rule(&rules, libcs[i], &anything,
			elf_symbol(&libc, libcs[i]));
	}
	relink_one(library, rules.list, rules.count);
}

bool takeover_needs_dlopen(const void *caller)
{
	struct elf_object module;

	if (!load_relaxed(&g.active)) {
		return false;
	}
	if (elf_find_by_address(caller, &module) && !module.has_run_path) {
		return true;
	}
	store_relaxed(&g.behind, true);
	return false;
}

void *takeover_dlopen(const char *file, int flags)
{
	void *handle = loader_open(file, flags);

	if (handle) {
		relink();
	}
	return handle;
}

void takeover_catch_up(void)
{
	if (unlikely(load_relaxed(&g.behind))) {
		store_relaxed(&g.behind, false);
		relink();
	}
}

void takeover_resume(void)
{
	if (g.late && !load_relaxed(&g.active)) {
		store_relaxed(&g.active, true);
		relink();
	}
}

AMUX_API int amux_attach(const char *backend)
{
	return amux_backend_switch(backend);
}

AMUX_API int amux_detach(void)
{
	const struct family_member *member;
	struct rules rules = {.count = 0};
	struct elf_object libc, self;
	int err;

	if (!g.late || !elf_find_libc(&libc) ||
		!elf_find_by_address((const void *)amux_detach, &self)) {
		return ENOTSUP;
	}
	err = amux_backend_switch("system");
	if (err) {
		return err;
	}
	store_relaxed(&g.active, false);
	for (size_t i = 0; (member = family_member(i)); i++) {
		if (!member->takes_block) {
			add_rule(&rules, member->name, &self,
				elf_symbol(&libc, member->name));
		}
	}
	return relink_apply(rules.list, rules.count) < 0 ? EACCES : 0;
}
