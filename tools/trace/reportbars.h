/* SPDX-License-Identifier: MIT */
/*
 * reportbars.h - histograms and the time line as text.
 */
#ifndef AMUX_TOOLS_REPORTBARS_H
#define AMUX_TOOLS_REPORTBARS_H

#include "account.h"

void bars_sizes(const struct account *account);
void bars_lifetimes(const struct account *account);
void bars_timeline(const struct account *account);

/* "2 KiB to 4 KiB": what a class of sizes covers. */
void bars_size_label(char *text, size_t size, unsigned index);

/* "16 ms to 64 ms": what a class of lifetimes covers. */
void bars_lifetime_label(char *text, size_t size, unsigned index);

#endif
