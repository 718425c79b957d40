/* SPDX-License-Identifier: MIT */
/*
 * merge.h - the events of all lanes in one order, into the account.
 */
#ifndef AMUX_TOOLS_MERGE_H
#define AMUX_TOOLS_MERGE_H

#include "account.h"
#include "tracefile.h"

/* Returns the number of events that the writer had no room for. */
uint64_t merge_events(struct tracefile *file, struct account *account);

#endif
