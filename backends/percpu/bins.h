/* SPDX-License-Identifier: MIT */
/*
 * bins.h - the slow side of the bins: refill, overflow, drain, no rseq.
 *
 * None of these functions is async-signal-safe; all leave errno alone.
 */
#ifndef AMUX_PERCPU_BINS_H
#define AMUX_PERCPU_BINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hot.h"

/* Find the thread's rseq area and place the rows. 0 or an errno value. */
int percpu_bins_init(void);

/* A block although the bin is empty; NULL if there is no memory. */
void *percpu_bins_malloc(unsigned class);

/* Take a block although the bin is full, or there is none. */
void percpu_bins_free(unsigned class, void *block);

/*
 * Empty every bin, spare and shard into the central lists. With `fence`, bins
 * of other CPUs are emptied while their threads go on; if the kernel has no
 * fence for that, those are left alone. Without it, only at rest.
 */
void percpu_bins_drain(bool fence);

/* Empty the bins of the CPU we are on into the central lists. */
void percpu_bins_drain_own(void);

/* Blocks of a class in bins, spares and shards; a moment's figure. */
size_t percpu_bins_count(unsigned class);

/* Is the fast path in use? For reports and tests. */
bool percpu_bins_have_rseq(void);

void percpu_bins_prefork(void);
void percpu_bins_postfork(void);

#endif
