/* SPDX-License-Identifier: MIT */
/* backends.h - the backends of this machine, as the library finds them. */
#ifndef AMUX_TOOLS_BACKENDS_H
#define AMUX_TOOLS_BACKENDS_H

#include <stddef.h>

#include <allocmux/allocmux.h>

struct backend_entry {
	enum amux_backend_kind kind;
	char *name;
	char *path;    /* NULL: built in */
	char *version; /* NULL if unknown, as the three that follow */
	char *summary;
	char *caveat;
};

struct backend_table {
	struct backend_entry *entries;
	size_t count;
};

/* Looks through folders, once; the table lives as long as the process. */
const struct backend_table *backends_find(void);

/* NULL if there is none of that name. */
const struct backend_entry *backends_named(const char *name);

#endif
