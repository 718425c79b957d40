/* SPDX-License-Identifier: MIT */
/*
 * trace.h - start, stop and life cycle of tracing.
 */
#ifndef AMUX_TRACE_TRACE_H
#define AMUX_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * At the library's start, inside the program's first allocation: begin what
 * ALLOC_TRACE asks for. A trace that cannot begin says why in one line.
 */
void trace_start_early(void);

/* In our constructor: the part that allocates and loads libraries. */
void trace_start_late(void);

/*
 * Start, or go on after a stop. NULL: what the environment or the last start
 * said. 0 or an errno value, with one line on stderr. Allocates.
 */
int trace_start(const char *mode, const char *pattern);

/* Of waiting.c: what was waited for has come. */
void trace_begin_waiting(void);

/* Stop; the file stays and can be gone on with. 0 or an errno value. */
int trace_stop(void);

/* Mark this moment in the file; in mode profile, with a copy of the table. */
int trace_snapshot(void);

bool trace_is_running(void);

/* The file's path, NULL if there is none. */
const char *trace_file(void);

/* At the end of the process. */
void trace_finish(void);

/* Of lanes.c: once a tick of a lane; a child has no file yet. */
void trace_tick(uint64_t now);
bool trace_begin_child(void);

/* Around fork: the dispatch table's lock ranks between the two. */
void trace_prefork(void);
void trace_prefork_file(void);
void trace_postfork_file(void);
void trace_postfork(void);

#endif
