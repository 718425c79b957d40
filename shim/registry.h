/* SPDX-License-Identifier: MIT */
/*
 * registry.h - the backends of this process: found by name, loaded, given an
 * owner id, and never unloaded.
 *
 * A name is looked for among the built-ins, then the plugins, then the
 * well-known libraries; a name with a slash is a file. Whatever fails gives
 * one line that says what was tried and what exists.
 * Locks: one (LOCK_RANK_REGISTRY) around loading. Not async-signal-safe.
 */
#ifndef AMUX_REGISTRY_H
#define AMUX_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include <allocmux/allocmux.h>
#include <allocmux/backend.h>

#include "base/elfsym.h"

/* Room for any reason that registry_load() gives. */
enum { REGISTRY_WHY_SIZE = 960 };

/* A library that has a malloc and knows nothing of us. */
struct known_library {
	const char *name;           /* as in ALLOC_BACKEND */
	const char *const *sonames; /* NULL-terminated, tried in order */
	const char *prefix;         /* of its functions, "" for malloc itself */
	const char *summary;
	const char *caveat; /* or NULL */
};

/* Well-known library number i; NULL past the last. */
const struct known_library *registry_library(size_t i);

/* The well-known library of that name, or NULL. */
const struct known_library *registry_library_named(const char *name);

/* libc's own, owner 0. Call once, first. False without a libc. */
bool registry_start(void);

/* Is NAME compiled in? Such a backend may be loaded inside any malloc. */
bool registry_is_builtin(const char *name);

/*
 * Find, load and initialise the backend NAME; *id is its owner id. Loading
 * again gives the same id. 0, or an errno value with the reason in `why`, one
 * line without a full stop.
 */
int registry_load(const char *name, unsigned *id, char *why, size_t size);

/*
 * The well-known library NAME will be loaded later and may be in the process
 * already: place its mappings from now on. For start-up only.
 */
void registry_expect(const char *name);

/* The file of the plugin NAME into path; false if there is none. */
bool registry_find_plugin(const char *name, char *path, size_t size);

/*
 * A module that nobody asked for is mapping memory. If it is an allocator of
 * its own (it defines malloc, free and realloc: a library preloaded behind us,
 * a program or plugin with a malloc linked in), it becomes an owner, so that
 * its blocks find home from any free. Its id, or OWNER_LIBC. Takes no lock
 * that is held while a library is loaded.
 */
unsigned registry_adopt(const struct elf_object *module);

/* The name and the origin (a path, "built in") of a loaded backend. */
const char *registry_name(unsigned id);
const char *registry_origin(unsigned id);

/* Backends loaded so far; ids are 0 to count - 1. */
unsigned registry_count(void);

void registry_prefork(void);
void registry_postfork(void);

#endif
