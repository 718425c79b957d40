/* SPDX-License-Identifier: MIT */
/*
 * takeover.h - make the process's calls come to us when the linker did not.
 *
 * Preloaded, every module is bound to us from the start, with one exception:
 * C++ operators that another malloc library exports. Loaded late, nobody is.
 * Both are mended by rewriting slots (relink.h), at start and again after each
 * dlopen.
 *
 * After a dlopen: where the loader does not need the caller's RUNPATH, dlopen
 * goes through takeover_dlopen(), which relinks before it returns. Where it
 * does, dlopen is a jump, and relinking is caught up with at the next dlsym or
 * dlopen.
 */
#ifndef AMUX_TAKEOVER_H
#define AMUX_TAKEOVER_H

#include <stdbool.h>

#include "base/elfsym.h"

/* Decide what is to be rewritten, and do it. By the constructor, once. */
void takeover_start(void);

/* Does this caller's dlopen have to go through takeover_dlopen()? */
bool takeover_needs_dlopen(const void *caller);

/* As dlopen(3); relinks what has been loaded. */
void *takeover_dlopen(const char *file, int flags);

/* After amux_detach(): take the process's calls over again. */
void takeover_resume(void);

/*
 * An unmodified malloc library has been loaded: its own calls for memory go to
 * the shim and to libc directly, not through functions of the program, which
 * may interpose mmap or madvise and allocate inside, under the library's locks.
 * Absent (weak) where the core is linked without the interposer.
 */
void takeover_bind_library(const struct elf_object *library)
	__attribute__((weak));

/* Relink after a dlopen that was a jump. Price when idle: one load. */
void takeover_catch_up(void);

#endif
