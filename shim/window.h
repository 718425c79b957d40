/* SPDX-License-Identifier: MIT */
/*
 * window.h - the address ranges of libraries that know nothing of us.
 *
 * An unmodified malloc library maps memory with mmap or sbrk. The shim exports
 * these names; a call that comes from the library's own code (told by its
 * return address) is placed inside a window: address space reserved for that
 * library and registered in the owner map. So every block of the library lies
 * where the owner map says. sbrk is refused, and the library takes mmap. Calls
 * from all other code go to the kernel untouched.
 *
 * What does not fit the window (a full window, RLIMIT_AS) is mapped wherever
 * the kernel likes and registered by its exact range.
 * The names are exported by interpose_mmap.c.
 * Locks: one per process around placement (LOCK_RANK_WINDOW).
 * Not here: loading (external.c).
 */
#ifndef AMUX_WINDOW_H
#define AMUX_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/elfsym.h"

/*
 * Reserve a window for owner id. Never fails: without address space the window
 * is empty and every mapping is registered by itself.
 */
void window_create(unsigned id);

/* The calls of this module are placed in the window of id from now on. */
void window_add_module(unsigned id, const struct elf_object *module);

/*
 * While a library is being loaded its constructors may map memory before we
 * are told about its module. Between these two calls, on this thread, modules
 * that were not there before count as id's.
 */
void window_begin_load(unsigned id);
void window_end_load(void);

/*
 * A library that is already in the process (preloaded behind us) may map
 * memory before we load it: modules whose soname or file name is in `sonames`
 * (NULL-terminated) count as id's. NULL ends it.
 */
void window_expect(unsigned id, const char *const *sonames);

/*
 * Whose code is this return address in? OWNER_LIBC for all but the modules of
 * external and adopted libraries. Each module is judged at its first call;
 * after that the price is a compare for each module that has called before.
 */
unsigned window_caller(const void *caller);

/*
 * mmap(2), munmap(2) and mremap(2) as called by owner id. The result is the
 * kernel's: negative errno on failure; errno is left alone.
 */
long window_map(unsigned id, void *addr, size_t size, int prot, int flags,
	int fd, long offset);
long window_unmap(unsigned id, void *addr, size_t size);
long window_remap(
	unsigned id, void *addr, size_t size, size_t new_size, int flags);

/* Bytes mapped in the window of id now. */
size_t window_mapped_bytes(unsigned id);

void window_prefork(void);
void window_postfork(void);

#endif
