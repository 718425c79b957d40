/* SPDX-License-Identifier: MIT */
/*
 * interpose_dl.c - dlopen, dlsym and dlvsym as the program sees them.
 *
 * Two changes, both needed so that one allocator serves the process:
 *   - dlopen clears RTLD_DEEPBIND (ALLOC_DEEPBIND=keep leaves it): such a
 *     module would take libc's malloc while the libc functions it calls take
 *     ours, and its free would meet our blocks where we cannot see it;
 *   - dlsym and dlvsym that would answer a name of the malloc family with
 *     libc's function answer with the process's (ctypes, cffi and JITs look
 *     them up on a handle of libc).
 * Everything else goes on by a jump (interpose_dl.S), because the loader tells
 * the caller's RUNPATH, $ORIGIN and RTLD_NEXT by the return address.
 */
#include "interpose_dl.h"

#include <dlfcn.h>
#include <stdbool.h>

#include "base/elfsym.h"
#include "dispatch.h"
#include "family.h"
#include "loader.h"
#include "takeover.h"
#include "trace/rules.h"

static bool in_libc(const void *function)
{
	struct elf_object libc;
	uintptr_t addr = (uintptr_t)function;

	return elf_find_libc(&libc) && addr >= libc.start && addr < libc.end;
}

void *interpose_dlsym(void *handle, const char *name)
{
	void *ours, *found;

	/*
	 * These two mean the caller's place in the search order. A sanitizer's
	 * runtime asks so for its very first symbols: nothing is started here.
	 */
	if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || !name) {
		return NULL;
	}
	lifecycle_start();
	takeover_catch_up();
	ours = family_function(name);
	found = ours ? loader_symbol(handle, name) : NULL;
	return found && in_libc(found) ? ours : NULL;
}

void *interpose_dlopen(const char *file, int flags, const void *caller)
{
	lifecycle_start();
	takeover_catch_up();
	return takeover_needs_dlopen(caller) ? (void *)takeover_dlopen
					     : (void *)loader_real.dlopen;
}

/* The loader's functions alone, which needs nothing but libc's symbols. */
static void find_loader(void)
{
	struct elf_object libc;

	if (!loader_real.dlsym && elf_find_libc(&libc)) {
		loader_start(&libc);
	}
}

void *interpose_real_dlsym(void)
{
	find_loader();
	return (void *)loader_real.dlsym;
}

void *interpose_real_dlvsym(void)
{
	find_loader();
	return (void *)loader_real.dlvsym;
}

/* The tracer must know when addresses may begin to mean something else. */
AMUX_API int dlclose(void *handle)
{
	int ret;

	lifecycle_start();
	ret = loader_close(handle);
	rules_advance_epoch();
	return ret;
}
