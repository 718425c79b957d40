/* SPDX-License-Identifier: MIT */
/*
 * drain.h - copies a trace out of a raw file while the program writes it.
 */
#ifndef AMUX_TOOLS_DRAIN_H
#define AMUX_TOOLS_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct drain;

/*
 * Begin with the raw file at `raw`. NULL if it is not a trace yet (try again)
 * or if `packed` cannot be created, which has been said (*failed).
 */
struct drain *drain_create(const char *raw, const char *packed, bool *failed);

/* Copy the blocks that are complete, and give them back. */
void drain_poll(struct drain *drain);

/* Has the program that writes it ended? */
bool drain_is_over(const struct drain *drain);

/*
 * Copy all the rest, close the packed file and remove the raw one. False if
 * the packed file is not complete: then the raw one is kept.
 */
bool drain_destroy(struct drain *drain);

#endif
