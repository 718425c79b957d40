/* SPDX-License-Identifier: MIT */
/*
 * dispatch.h - where every call goes: one table of functions.
 *
 * A state of the library is a table, not a flag. `dispatch` is what the
 * exported functions jump through; before start, serving a backend, and
 * tracing are different contents of it. Contents may be replaced slot by slot
 * while other threads call: any mixture is right, because a block is always
 * freed by its owner, whoever is current.
 *
 *     state      malloc          free
 *     start      start, retry    start, retry
 *     system     libc's          libc's (while no other backend exists)
 *     plain(B)   B's             B's if it accepts any pointer, else by owner
 *     traced     trace, then the plain table
 *
 * Rules of the slots (the argument rules of C and POSIX are interpose.c's):
 *   malloc(size)          size may be 0 or above PTRDIFF_MAX
 *   free(ptr)             ptr may be NULL
 *   calloc(count, size)   the product fits, and is at most PTRDIFF_MAX
 *   realloc(ptr, size)    ptr not NULL, size 1 to PTRDIFF_MAX
 *   memalign(align, size) align a power of two >= 16, size <= PTRDIFF_MAX
 *   usable_size(ptr)      ptr not NULL
 *   free_sized(ptr, size) ptr not NULL
 */
#ifndef AMUX_DISPATCH_H
#define AMUX_DISPATCH_H

#include <stdbool.h>
#include <stddef.h>

#include <allocmux/backend.h>

#include "base/compiler.h"

struct dispatch_ops {
	void *(*malloc)(size_t size);
	void (*free)(void *ptr);
	void *(*calloc)(size_t count, size_t size);
	void *(*realloc)(void *ptr, size_t size);
	void *(*memalign)(size_t align, size_t size);
	size_t (*usable_size)(void *ptr);
	void (*free_sized)(void *ptr, size_t size);
};

/*
 * What the exported functions jump through. sync: each slot is one aligned
 * word, written by the holder of the start lock and read without order; an old
 * value is as right as a new one. Plain, not _Atomic: compilers do not fold an
 * atomic load into the jump, and this jump is the whole fast path.
 */
extern AMUX_HIDDEN struct dispatch_ops dispatch;

/*
 * The table of the active backend, untraced. What a wrapper such as the
 * tracer calls below itself.
 */
extern AMUX_HIDDEN struct dispatch_ops dispatch_plain;

/*
 * Backend `id` exists: its blocks may be met by free from now on. Call before
 * it hands out its first block.
 */
void dispatch_add_owner(unsigned id, const struct amux_backend *backend);

/*
 * Before the first activation: pointers are checked before libc sees them even
 * while it is the active backend (ALLOC_BAD_FREE=warn).
 */
void dispatch_distrust_libc(void);

/*
 * Some owner's blocks lie in no range of its own but in the block table: from
 * now on it is asked before a pointer counts as libc's.
 */
void dispatch_track_blocks(void);

/* The owner of ptr, by range or by block. */
unsigned dispatch_owner(const void *ptr);

/* New blocks come from backend `id`, which was added before. */
void dispatch_activate(unsigned id);

/* Put a wrapper in front of the plain table, or take it away (NULL). */
void dispatch_wrap(const struct dispatch_ops *wrapper);

/* The id of the active backend, and the table of any. */
unsigned dispatch_active(void);
const struct amux_backend *dispatch_backend(unsigned id);

void dispatch_prefork(void);
void dispatch_postfork(void);

/* The current table's starting contents call this, then try again. */
void lifecycle_start(void);

/* For backends that accept any pointer: see amux_host.foreign_free. */
void dispatch_foreign_free(void *ptr);
void *dispatch_foreign_realloc(void *ptr, size_t size);
size_t dispatch_foreign_usable_size(void *ptr);

#endif
