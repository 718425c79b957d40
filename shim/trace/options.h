/* SPDX-License-Identifier: MIT */
/*
 * options.h - what the environment asks of the tracer.
 */
#ifndef AMUX_TRACE_OPTIONS_H
#define AMUX_TRACE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Blocks of the file, bytes. */
#define TRACE_BLOCK_SIZE 65536u

struct trace_options {
	uint32_t mode;       /* enum amux_trace_mode */
	const char *pattern; /* of the file name */
	uint64_t delay_ns;   /* 0: none, as below */
	uint64_t duration_ns;
	uint64_t live_bytes; /* threshold at which to begin */
	uint64_t size_limit; /* bytes */
	uint64_t interval;   /* mean bytes between samples */
	uint64_t features;   /* AMUX_TRACE_F_* */
	bool ring;
};

/* False if ALLOC_TRACE is not set. A bad value is reported and its default
 * taken. */
bool options_from_environment(struct trace_options *options);

/*
 * What a start at run time says, where the environment said nothing. mode 0 is
 * record; pattern may be NULL and is not copied.
 */
void options_complete(
	struct trace_options *options, uint32_t mode, const char *pattern);

/* The mode's number, or 0. */
uint32_t options_mode(const char *name);

/* A few words for the errno values that files give. */
const char *options_error(int error);

#endif
