/* SPDX-License-Identifier: MIT */
/*
 * traceinfo.h - what a trace says about its process: texts, modules, threads,
 * children, what was switched when.
 */
#ifndef AMUX_TOOLS_TRACEINFO_H
#define AMUX_TOOLS_TRACEINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <allocmux/trace.h>

#define BUILD_ID_MAX 64
#define EPOCH_NEVER  UINT32_MAX

/* A file that was mapped; loads of the same file share one. */
struct trace_object {
	char *path;
	uint8_t build_id[BUILD_ID_MAX];
	uint32_t build_id_length; /* 0: none */
	uint64_t start;           /* run-time range of the first load */
	uint64_t end;
	uint64_t offset; /* of its first executable segment in the file */
	uint64_t bias;
};

/* A load of an object. */
struct trace_module {
	uint32_t id;
	uint32_t object; /* index */
	uint32_t from;   /* epochs [from, until) */
	uint32_t until;
	uint64_t start;
	uint64_t end;
	uint64_t bias;
};

struct trace_thread_info {
	uint32_t thread;
	uint32_t tid;
	char *name; /* the last; or NULL */
};

struct trace_control {
	uint64_t ns;
	uint32_t what; /* enum amux_trace_control */
	uint32_t number;
};

struct trace_info {
	char *texts[AMUX_TRACE_TEXT_PARENT + 1]; /* by key; or NULL */
	char *cmdline;                           /* shell-like; or NULL */
	struct trace_object *objects;
	uint32_t object_count;
	struct trace_module *modules;
	uint32_t module_count;
	struct trace_thread_info *threads;
	uint32_t thread_count;
	struct trace_control *controls;
	uint32_t control_count;
	uint32_t *children; /* pids */
	uint32_t child_count;
	struct amux_trace_info_summary summary; /* length 0: none */
};

/* Take the records in [bytes, bytes + size); false: the rest is broken. */
bool info_decode(struct trace_info *info, const void *bytes, size_t size);

/* When all blocks were decoded: before info_module(). */
void info_finish(struct trace_info *info);

/* The load that `addr` belonged to in `epoch`, or NULL. */
const struct trace_module *info_module(
	const struct trace_info *info, uint32_t epoch, uint64_t addr);

/* The thread's record, or NULL. */
const struct trace_thread_info *info_thread(
	const struct trace_info *info, uint32_t thread);

void info_fini(struct trace_info *info);

#endif
