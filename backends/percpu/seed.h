/* SPDX-License-Identifier: MIT */
/*
 * seed.h - the first few blocks of each class, packed together.
 *
 * A process that lives for a millisecond uses a dozen classes and a few blocks
 * of each; a span per class would touch a page per class. Its first KiB of
 * every class comes from a few shared pages instead, cut off one after the
 * other. Freed seeds are not used again: a class that goes on gets spans.
 */
#ifndef AMUX_PERCPU_SEED_H
#define AMUX_PERCPU_SEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hot.h"

/* Pages of the first range from SEED_FIRST on. */
enum { SEED_FIRST = 1, SEED_PAGES = 16, SEED_MAX = 1024 };

static inline bool seed_page(uint32_t page)
{
	return page - SEED_FIRST < SEED_PAGES;
}

/* A block, or NULL if the class has had its share. */
void *seed_malloc(unsigned class);

/* Usable size of a live seed; 0 if ptr is none. */
size_t seed_size(const void *ptr);

/* False if ptr is not a live seed. */
bool seed_free(const void *ptr);

/* Bytes of live seeds, and how many. */
void seed_count(size_t *bytes, size_t *blocks);

int seed_each(int (*visit)(void *block, size_t usable, void *arg), void *arg);

void seed_prefork(void);
void seed_postfork(void);

#endif
