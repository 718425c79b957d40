/* SPDX-License-Identifier: MIT */
/*
 * loader.h - the real dlopen and dlsym.
 *
 * The shim interposes both names for the program (interpose_dl.c); what it
 * needs itself it takes from libc's own symbol table.
 */
#ifndef AMUX_LOADER_H
#define AMUX_LOADER_H

#include <assert.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/elfsym.h"

/* Take the real functions from libc, or from libdl before glibc 2.34. */
void loader_start(const struct elf_object *libc);

/*
 * sync: set in loader_start, then constant; NULL without a loader. The layout
 * is known to interpose_dl.S.
 */
struct loader_real {
	void *(*dlopen)(const char *file, int flags);
	void *(*dlsym)(void *handle, const char *name);
	void *(*dlvsym)(void *handle, const char *name, const char *version);
	int dlopen_mask; /* the program's flags are and-ed with this */
};

static_assert(offsetof(struct loader_real, dlopen_mask) == 24,
	"interpose_dl.S reads the mask there");

extern AMUX_HIDDEN struct loader_real loader_real;

/* As dlopen(3), dlsym(3), dlclose(3), dlerror(3). */
void *loader_open(const char *file, int flags);
void *loader_symbol(void *handle, const char *name);
int loader_close(void *handle);
const char *loader_error(void);

#endif
