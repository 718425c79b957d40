/* SPDX-License-Identifier: MIT */
/*
 * relink.h - send calls that are bound already to somebody else.
 *
 * The dynamic linker writes the address of each imported function into slots
 * of the importing module (the GOT). Two cases need them rewritten:
 *   - late load: the shim came by dlopen, when everybody was bound to libc's
 *     malloc; their slots are sent to us, also libc's own, and dlopen's and
 *     dlsym's, so that what is loaded later follows;
 *   - C++ operators of a malloc library preloaded behind us: blocks would
 *     reach that library without passing us; the slots are sent to the C++
 *     runtime's operators, which call malloc and free.
 *
 * A slot is rewritten only if it holds what we expect there. One aligned word
 * is stored, so a thread that calls meanwhile goes to the old or the new
 * function, and either is right. Slots the linker made read-only (RELRO) are
 * made writable for the store and read-only again.
 * Locks: the loader's, through dl_iterate_phdr(3), so that no module vanishes
 * meanwhile. Not async-signal-safe.
 */
#ifndef AMUX_RELINK_H
#define AMUX_RELINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/elfsym.h"

/*
 * One name: slots of `name` that hold an address in [start, end) get `to`; so
 * do, if `unbound`, those that the linker has not bound yet (lazy binding).
 */
struct relink_rule {
	const char *name;
	const void *start, *end;
	void *to;
	bool unbound;
};

/*
 * Apply the rules to every loaded module but this library. Returns the number
 * of slots rewritten, or -EACCES if some could not be made writable.
 */
int relink_apply(const struct relink_rule *rules, size_t count);

/* The same for one module. */
int relink_one(const struct elf_object *object, const struct relink_rule *rules,
	size_t count);

#endif
