/* SPDX-License-Identifier: MIT */
/*
 * heapview.h - a trace as a report shows it: filtered stacks of named places,
 * each with its costs.
 */
#ifndef AMUX_TOOLS_HEAPVIEW_H
#define AMUX_TOOLS_HEAPVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "filter.h"
#include "symbolise.h"
#include "traceload.h"

enum metric {
	METRIC_BYTES,     /* allocated in all */
	METRIC_CALLS,     /* allocations */
	METRIC_PEAK,      /* bytes live at the moment of the peak */
	METRIC_LEAKED,    /* bytes live at the end */
	METRIC_TEMPORARY, /* allocations freed before the thread's next */
	METRIC_COUNT
};

struct cost {
	uint64_t metric[METRIC_COUNT];
	uint64_t frees;
	uint64_t leaked_calls;
	uint64_t usable;
	uint64_t reallocs;
	uint64_t failed;
	uint64_t max_size;
	uint64_t samples;
	uint64_t lifetimes[AMUX_TRACE_LIFETIMES];
};

/* A shown stack. */
struct view_stack {
	struct cost cost;
	uint32_t site;  /* in the account: the first with this stack */
	uint32_t first; /* its places, innermost first: index into paths */
	uint32_t count; /* 0: the stack is unknown */
};

struct view {
	const struct trace *trace;
	struct symbols symbols;
	struct view_stack *stacks;
	uint32_t stack_count;
	uint32_t *paths; /* indices of places */
	size_t path_count;
	uint32_t *function_of; /* by place: the first with its function */
	uint8_t *bits;         /* by place: PLACE_... */
	struct cost total;     /* of the shown stacks */
	uint64_t suppressed_bytes;
	uint64_t suppressed_calls;
	bool filtered;           /* stacks were left out */
	uint32_t *stack_of_site; /* by site: index of its stack plus 1, or 0 */
};

struct view_options {
	struct filter *filter;
	bool no_lines;   /* do not read debug information */
	bool all_frames; /* keep operator new and the like innermost */
};

void view_init(struct view *view, const struct trace *trace,
	const struct view_options *options);
void view_fini(struct view *view);

void cost_add(struct cost *to, const struct cost *from);

/* "bytes" and so on. */
extern const char *const metric_names[METRIC_COUNT];

/* The metric of that name; METRIC_COUNT: none. */
enum metric metric_find(const char *name);

/* Is it a number of bytes (else of calls)? */
bool metric_is_bytes(enum metric metric);

/* Name of the object of a place without directories; "" if none. */
const char *view_object_name(const struct view *view, uint32_t place);

#endif
