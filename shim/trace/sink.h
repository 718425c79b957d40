/* SPDX-License-Identifier: MIT */
/*
 * sink.h - the trace file: blocks out of a mapping that is never short of disk.
 *
 * One lock, the trace lock, guards the file and everything that is defined in
 * it once for all threads: stacks, modules, threads. It is never held while a
 * backend is called. Functions named *_locked need it held; a thread must have
 * marked itself busy (lanes.h) before it takes the lock, so that a signal
 * handler that allocates does not wait for itself.
 *
 * No descriptor stays open: programs close descriptors they do not know, and
 * then use the number for something else.
 */
#ifndef AMUX_TRACE_SINK_H
#define AMUX_TRACE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <allocmux/trace.h>

struct sink_options {
	const char *pattern; /* of the file name: %p pid, %n image, %% */
	uint32_t mode;       /* enum amux_trace_mode */
	uint32_t block_size; /* bytes */
	uint64_t size_limit; /* bytes of file; 0: none */
	bool ring;           /* at the limit, overwrite the oldest events */
	uint64_t interval;   /* mean bytes between samples */
	uint64_t features;   /* AMUX_TRACE_F_* */
};

/* Create the file. 0 or -errno. The options' pattern must stay. */
int sink_open(const struct sink_options *options);

/* In a forked child: leave the parent's file alone and open one's own. */
int sink_reopen_in_child(void);

/* Is there a file? */
bool sink_is_open(void);

void sink_lock(void);
void sink_unlock(void);
void sink_prefork(void);
void sink_postfork(void);

/* Nanoseconds since time 0, precise, and by the timer tick. */
uint64_t sink_now(void);
uint64_t sink_tick(void);

/*
 * A fresh EVENTS block, its header filled, for a lane; NULL if the disk or the
 * limit does not allow it. Takes the lock.
 */
struct amux_trace_block *sink_take_block(
	uint32_t lane, uint32_t sequence, uint32_t thread);

/* The owner is done with the block and will not touch it again. */
void sink_give_block(struct amux_trace_block *block, uint64_t events);

/* An event found no room; size is 0 for a free. */
void sink_count_lost(uint64_t size);

size_t sink_block_size(void);

/* How often the file has grown: a time for what costs a system call. */
uint32_t sink_growths(void);

struct amux_trace_file *sink_header(void);
const char *sink_path(void);

/* ---- under the trace lock ---- */

void sink_define_stack(
	uint32_t id, uint32_t epoch, const uint64_t *frames, size_t count);

/* Up to four pieces make one INFO record; the first begins with the struct. */
struct sink_piece {
	const void *data;
	size_t size;
};
void sink_info_locked(struct sink_piece *pieces, size_t count);

/* A block for the table of sites; lane is the snapshot's number. */
struct amux_trace_block *sink_take_sites_locked(
	uint32_t lane, uint32_t sequence);

/* ---- without ---- */

/* One INFO record of a text. Takes the lock. */
void sink_text(uint32_t key, const char *text, size_t length);

/* Say how the trace ended, and give back room that was not used. */
void sink_finish(uint32_t state);
void sink_resume(void);

#endif
