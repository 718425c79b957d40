/* SPDX-License-Identifier: MIT */
/*
 * family.h - the names that must all come from one place.
 */
#ifndef AMUX_FAMILY_H
#define AMUX_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

struct family_member {
	const char *name;
	bool takes_block; /* has a parameter that is a block */
};

/* Member i; NULL past the last. */
const struct family_member *family_member(size_t i);

/*
 * This library's own function NAME, also when the process's is another's (late
 * load). NULL if it exports none. Not async-signal-safe.
 */
void *family_own_function(const char *name);

/* As above for a member of the family only, else NULL. */
void *family_function(const char *name);

#endif
