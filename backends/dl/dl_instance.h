/* SPDX-License-Identifier: MIT */
/*
 * dl_instance.h - what "dl" and "dl-checked" have in common: one instance of
 * the allocator, with its heaps, its address space and its settings.
 *
 * The functions here have the contract of the slot of the same name in
 * <allocmux/backend.h>; `call` is the function's name for reports.
 */
#ifndef AMUX_BACKENDS_DL_DL_INSTANCE_H
#define AMUX_BACKENDS_DL_DL_INSTANCE_H

#include <allocmux/backend.h>

#include "dl_cache.h"
#include "dl_direct.h"
#include "dl_heap.h"
#include "dl_space.h"

enum { MAX_HEAPS = 8 };

/* Blocks of this size and more are direct; grows up to the maximum as freed
 * direct blocks show what the program uses, unless it was set. */
#define DIRECT_THRESHOLD     ((size_t)256 << 10)
#define DIRECT_THRESHOLD_MAX ((size_t)32 << 20)

struct dl {
	const struct amux_host *host;    /* sync: set by init, then constant */
	bool checked;                    /* sync: constant */
	bool deterministic;              /* likewise */
	bool cached;                     /* likewise; threads may have caches */
	unsigned heap_count;             /* likewise */
	uint64_t secret;                 /* likewise */
	_Atomic bool threshold_is_fixed; /* sync: atomic */
	_Atomic size_t direct_threshold; /* sync: atomic */
	_Atomic size_t trim_threshold;   /* sync: atomic; for new heaps */
	_Atomic size_t top_pad;          /* likewise */
	_Atomic uint64_t purge_due;      /* sync: atomic; ms of os_now_ms() */
	struct lock private_lock;        /* rank HEAP, before any heap's */
	struct heap *privates;           /* sync: private_lock */
	struct space space;
	struct heap heaps[MAX_HEAPS];
};

int dl_init(struct dl *dl, const struct amux_host *host, bool checked);

/* dl_alloc.c */
void *dl_malloc(struct dl *dl, size_t size);
void *dl_calloc(struct dl *dl, size_t size);
void *dl_memalign(struct dl *dl, size_t align, size_t size);
void *dl_realloc(struct dl *dl, void *block, size_t size);
/* size is what free_sized() said, or 0. */
void dl_free(struct dl *dl, void *block, size_t size, const char *call);
size_t dl_usable_size(struct dl *dl, void *block);
/* For caches: chunks of any of the heaps. */
void dl_free_chunks(struct dl *dl, struct chunk **chunks, unsigned count);

/* dl_admin.c */
int dl_trim(struct dl *dl, size_t pad);
void dl_stats(struct dl *dl, struct amux_stats *stats);
int dl_option(struct dl *dl, int param, int value);
int dl_walk(struct dl *dl, amux_walk_fn *visit, void *arg);
int dl_check(struct dl *dl);
void dl_prefork(struct dl *dl);
void dl_postfork(struct dl *dl, bool child);
/* If it is time, give back what no heap needed for an epoch. */
void dl_purge_if_due(struct dl *dl);

/* dl_private.c */
void *dl_heap_create(struct dl *dl, void *memory, size_t size);
void dl_heap_destroy(struct dl *dl, void *heap);
void *dl_heap_malloc(struct dl *dl, void *heap, size_t size);
void *dl_heap_memalign(struct dl *dl, void *heap, size_t align, size_t size);
void *dl_heap_realloc(struct dl *dl, void *heap, void *block, size_t size);
void dl_heap_free(struct dl *dl, void *heap, void *block);
/* Call visit for each private heap; stops when it returns non-zero. */
int dl_for_each_private(
	struct dl *dl, int (*visit)(struct heap *heap, void *arg), void *arg);

/* A heap of the instance that has been used; NULL if number i was not. */
static inline struct heap *dl_heap(struct dl *dl, unsigned i)
{
	return load_acquire(&dl->heaps[i].ready) ? &dl->heaps[i] : NULL;
}

static inline size_t dl_overhead(const struct dl *dl)
{
	return dl->checked ? OVERHEAD_CHECKED : OVERHEAD;
}

#endif
