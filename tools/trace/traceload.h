/* SPDX-License-Identifier: MIT */
/*
 * traceload.h - a trace, read and counted: what all reports start from.
 */
#ifndef AMUX_TOOLS_TRACELOAD_H
#define AMUX_TOOLS_TRACELOAD_H

#include <stdbool.h>

#include "account.h"
#include "stacktrie.h"
#include "tracefile.h"
#include "traceinfo.h"

struct trace {
	const char *path;
	struct amux_trace_file header;
	struct trace_damage damage;
	struct trace_info info;
	struct stacktrie trie;
	struct account account;
	uint64_t lost_events;
	uint64_t lost_bytes;
};

/*
 * Read the trace at `path`, which must stay. false: nothing can be shown, and
 * the line that says why was printed. What could be read of a damaged trace is
 * read; see trace_warn().
 */
bool trace_load(struct trace *trace, const char *path);

/*
 * Say on stderr, in one line each, that the trace is damaged, that events were
 * lost, or that it was not ended in order. Returns TOOL_FAILED if it is
 * damaged, otherwise TOOL_OK.
 */
int trace_warn(const struct trace *trace);

/* Is there a time line, threads, sizes (not in mode profile)? */
bool trace_has_events(const struct trace *trace);

/*
 * Go through the events of a loaded trace once more, for an observer. Sites
 * have the numbers that they have in `trace`. false: the file is not readable
 * any more, and that was said.
 */
bool trace_replay(const struct trace *trace, const struct observer *observer);

void trace_unload(struct trace *trace);

#endif
