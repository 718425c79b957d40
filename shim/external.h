/* SPDX-License-Identifier: MIT */
/*
 * external.h - a backend made of an unmodified malloc library.
 *
 * The library's own functions fill the table where they keep its contract;
 * a thunk stands before those that do not. What the library lacks is filled
 * from what it has, so that one allocator serves the whole family.
 * Not here: where its memory lies (window.h), who is asked for (registry.h).
 */
#ifndef AMUX_EXTERNAL_H
#define AMUX_EXTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include <allocmux/backend.h>

#include "registry.h"

/*
 * Make a table of the library behind `handle` for owner id. `library` is what
 * is known of it, or NULL. 0, or an errno value with the reason in why.
 */
int external_load(void *handle, const struct known_library *library,
	unsigned id, struct amux_backend *table, char *why, size_t why_size);

#endif
