/* SPDX-License-Identifier: MIT */
/*
 * account.h - counters by call site and thread, totals, histograms, time line.
 *
 * account_alloc() and account_end() are told of every block's birth and end in
 * order; account_finish() makes the result readable.
 *
 * In sampled traces a block stands for 1/p others; counts are then kept in
 * 65536ths until account_finish().
 */
#ifndef AMUX_TOOLS_ACCOUNT_H
#define AMUX_TOOLS_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <allocmux/trace.h>

#include "livetable.h"
#include "timeline.h"

#define SIZE_CLASSES                                                           \
	49 /* [0]: size 0; [i]: 2^(i-1) <= size < 2^i; the last: more */

/* Bytes are requested bytes unless named usable. */
struct site {
	uint32_t stack; /* its id; 0: unknown */
	uint32_t node;  /* in the stack trie; set by trace_load() */
	uint64_t allocs;
	uint64_t frees; /* of blocks allocated here */
	uint64_t bytes;
	uint64_t usable;
	uint64_t live_bytes;
	uint64_t live_usable;
	uint64_t peak_bytes;     /* the site's own greatest live_bytes */
	uint64_t at_peak;        /* live_bytes at the peak of the total */
	uint64_t at_peak_allocs; /* live blocks then; 0 in profiles */
	uint64_t temporary;
	uint64_t reallocs;
	uint64_t max_size;
	uint64_t failed; /* calls that returned NULL */
	uint64_t samples;
	uint64_t lifetimes[AMUX_TRACE_LIFETIMES];
	uint64_t version;   /* of the peak, when live_bytes last changed */
	uint32_t step;      /* 1 + time line step of the last change */
	uint32_t same_node; /* 1: merged into another site */
};

struct thread_counts {
	uint32_t thread; /* 0: never seen */
	uint64_t allocs;
	uint64_t bytes;
	uint64_t frees;         /* by this thread */
	uint64_t foreign_frees; /* of them, blocks of other threads */
	uint64_t temporary;
	uint64_t live_bytes; /* allocated by this thread */
	uint64_t peak_bytes;
	uint64_t last_alloc; /* address; 0 after another event */
};

struct size_class {
	uint64_t allocs;
	uint64_t bytes;
	uint64_t usable;
};

struct totals {
	uint64_t allocs;
	uint64_t frees;
	uint64_t unknown_frees; /* of blocks that the trace does not know */
	uint64_t replaced;      /* blocks whose end is missing from the trace */
	uint64_t bytes;
	uint64_t usable;
	uint64_t live_bytes;
	uint64_t live_usable;
	uint64_t temporary;
	uint64_t reallocs;
	uint64_t failed;
	uint64_t samples;
	uint64_t peak_bytes;
	uint64_t peak_ns;
	uint64_t end_ns; /* of the last event */
};

struct event;

/*
 * Told of every block, before the account changes, and of every event in the
 * order of the whole trace. Each may be NULL.
 */
struct observer {
	void (*alloc)(void *data, uint32_t site, uint64_t size, uint64_t ns);
	void (*end)(void *data, uint32_t site, uint64_t size, uint64_t ns);
	void *data;
	void (*event)(void *data, const struct event *event);
};

struct account {
	const struct observer *observer; /* or NULL */
	struct site *sites;              /* [0]: unused */
	uint32_t site_count;
	uint32_t site_room;
	uint32_t *map; /* stack id to site, open addressing */
	uint32_t map_room;
	struct thread_counts *threads; /* by number */
	uint32_t thread_room;
	struct size_class sizes[SIZE_CLASSES];
	uint64_t lifetimes[AMUX_TRACE_LIFETIMES];
	struct totals total;
	struct timeline timeline;
	uint32_t *touched; /* sites changed in the present step */
	uint32_t touched_count;
	uint32_t touched_room;
	uint64_t version; /* counts new peaks */
	uint64_t tick_ns;
	uint64_t interval; /* 0: not sampled */
};

void account_init(struct account *account, uint64_t tick_ns, uint64_t interval);
void account_fini(struct account *account);

/* The site of a stack id, made if there was none. */
uint32_t account_site(struct account *account, uint32_t stack);

/* A block came into being; block->site, size, excess are set; sets born. */
void account_alloc(struct account *account, struct live_block *block,
	uint32_t thread, uint64_t ns, bool realloced);

/* A block ended by the doing of `thread`; thread 0: unknown. */
void account_end(struct account *account, const struct live_block *block,
	uint32_t thread, uint64_t ns);

void account_failed(struct account *account, uint32_t site);

/* The last call: after the last event. */
void account_finish(struct account *account);

/* Which class of struct account's sizes a request belongs to. */
static inline unsigned size_class_of(uint64_t size)
{
	unsigned i = size == 0 ? 0 : 64u - (unsigned)__builtin_clzll(size);

	return i < SIZE_CLASSES ? i : SIZE_CLASSES - 1;
}

#endif
