/* SPDX-License-Identifier: MIT */
/*
 * profileread.h - mode `profile`: the aggregate table is the file.
 */
#ifndef AMUX_TOOLS_PROFILEREAD_H
#define AMUX_TOOLS_PROFILEREAD_H

#include "account.h"
#include "tracefile.h"

/* Take the live table's sites. */
void profile_read(struct tracefile *file, struct account *account);

#endif
