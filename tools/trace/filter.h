/* SPDX-License-Identifier: MIT */
/*
 * filter.h - which stacks and frames a report shows.
 */
#ifndef AMUX_TOOLS_FILTER_H
#define AMUX_TOOLS_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolise.h"

/* Bits of a place. */
enum {
	PLACE_FOCUS = 1,    /* its stacks are shown */
	PLACE_IGNORE = 2,   /* its stacks are not shown */
	PLACE_HIDE = 4,     /* it is left out of its stacks */
	PLACE_SUPPRESS = 8, /* leaks of its stacks are no leaks */
	PLACE_GLUE = 16     /* operator new and standard libraries */
};

struct filter;

struct filter *filter_create(void);
void filter_destroy(struct filter *filter);

/*
 * Places whose function, source file or object path matches the extended
 * regular expression have `bit`. false: said why.
 */
bool filter_add(struct filter *filter, int bit, const char *regex);

/*
 * Read a file of LeakSanitizer's suppressions: lines "leak:PATTERN", where
 * PATTERN is a part of a function, file or object name, `*' stands for any
 * text, and `^' and `$' for the ends. Lines of other sanitizers and
 * comments (#) are skipped. false: said why.
 */
bool filter_suppressions(struct filter *filter, const char *path);

/* Suppress what libraries keep until the process ends by design. */
void filter_suppress_known(struct filter *filter);

/* Is there a filter with this bit? */
bool filter_has(const struct filter *filter, int bit);

/* The bits of a place. */
int filter_bits(const struct filter *filter, const struct place *place,
	const struct trace_info *info);

#endif
