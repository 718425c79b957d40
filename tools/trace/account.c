/* SPDX-License-Identifier: MIT */
/*
 * account.c - what each block's birth and end change.
 *
 * The peak by site is kept lazily, as in docs/trace-format.md: a site notes its
 * live bytes when it first changes after a new peak; one that did not change
 * since the last peak has now what it had then.
 */
#include "account.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

#define UNIT_SHIFT 16 /* of counts in sampled traces */

void account_init(struct account *account, uint64_t tick_ns, uint64_t interval)
{
	memset(account, 0, sizeof(*account));
	account->tick_ns = tick_ns > 0 ? tick_ns : 1;
	account->interval = interval;
	account->site_count = 1;
	account->site_room = 256;
	account->sites =
		tool_alloc(account->site_room * sizeof(*account->sites));
	account->map_room = 1024;
	account->map = tool_alloc(account->map_room * sizeof(*account->map));
	account->thread_room = 16;
	account->threads =
		tool_alloc(account->thread_room * sizeof(*account->threads));
	timeline_init(&account->timeline, account->tick_ns);
}

void account_fini(struct account *account)
{
	free(account->sites);
	free(account->map);
	free(account->threads);
	free(account->touched);
	timeline_fini(&account->timeline);
}

static uint32_t *map_place(const struct account *a, uint32_t stack)
{
	uint32_t i = (stack * 0x9e3779b1u >> 4) & (a->map_room - 1);

	while (a->map[i] != 0 && a->sites[a->map[i]].stack != stack) {
		i = (i + 1) & (a->map_room - 1);
	}
	return &a->map[i];
}

uint32_t account_site(struct account *a, uint32_t stack)
{
	uint32_t *place = map_place(a, stack);

	if (*place != 0) {
		return *place;
	}
	if (a->site_count == a->site_room) {
		a->site_room *= 2;
		a->sites = tool_realloc(
			a->sites, (size_t)a->site_room * sizeof(*a->sites));
	}
	memset(&a->sites[a->site_count], 0, sizeof(*a->sites));
	a->sites[a->site_count].stack = stack;
	*place = a->site_count;
	if (a->site_count * 2 > a->map_room) {
		free(a->map);
		a->map_room *= 2;
		a->map = tool_alloc((size_t)a->map_room * sizeof(*a->map));
		for (uint32_t i = 1; i <= a->site_count; i++) {
			*map_place(a, a->sites[i].stack) = i;
		}
	}
	return a->site_count++;
}

static struct thread_counts *thread_get(struct account *a, uint32_t thread)
{
	thread &= LIVE_THREAD_MASK;
	while (thread >= a->thread_room) {
		a->threads = tool_realloc(a->threads,
			2 * (size_t)a->thread_room * sizeof(*a->threads));
		memset(a->threads + a->thread_room, 0,
			a->thread_room * sizeof(*a->threads));
		a->thread_room *= 2;
	}
	a->threads[thread].thread = thread;
	return &a->threads[thread];
}

/* What a block counts for. */
struct weight {
	uint64_t count;
	uint64_t bytes;
	uint64_t usable;
};

static struct weight weigh(const struct account *a, uint64_t size, uint32_t ex)
{
	struct weight w = {1, size, size + ex};
	double p;

	if (a->interval != 0) {
		p = -expm1(
			-(double)(size > 0 ? size : 1) / (double)a->interval);
		w.count = (uint64_t)llround((1 << UNIT_SHIFT) / p);
		w.bytes = (uint64_t)llround((double)size / p);
		w.usable = (uint64_t)llround((double)(size + ex) / p);
	}
	return w;
}

/* The present step of the time line ends: note what changed in it. */
static void step_close(struct account *a)
{
	for (uint32_t i = 0; i < a->touched_count; i++) {
		uint32_t site = a->touched[i];

		timeline_change_add(
			&a->timeline, site, a->sites[site].live_bytes);
		a->sites[site].step = 0;
	}
	a->touched_count = 0;
}

static struct timeline_step *step_get(struct account *a, uint64_t ns)
{
	struct timeline *t = &a->timeline;

	if (ns >= t->width * t->count) {
		step_close(a);
		timeline_extend(t, ns, a->total.live_bytes);
	}
	return &t->steps[t->count - 1];
}

/* Before live bytes of a site change. */
static void site_touch(struct account *a, uint32_t index)
{
	struct site *site = &a->sites[index];

	if (site->version != a->version) {
		site->version = a->version;
		site->at_peak = site->live_bytes;
		site->at_peak_allocs = site->allocs - site->frees;
	}
	if (site->step == 0) {
		site->step = 1;
		if (a->touched_count == a->touched_room) {
			a->touched_room =
				a->touched_room ? 2 * a->touched_room : 256;
			a->touched = tool_realloc(a->touched,
				a->touched_room * sizeof(*a->touched));
		}
		a->touched[a->touched_count++] = index;
	}
}

static void site_alloc(struct site *site, const struct weight *w, uint64_t size)
{
	site->allocs += w->count;
	site->bytes += w->bytes;
	site->usable += w->usable;
	site->live_bytes += w->bytes;
	site->live_usable += w->usable;
	site->samples++;
	if (site->live_bytes > site->peak_bytes) {
		site->peak_bytes = site->live_bytes;
	}
	if (size > site->max_size) {
		site->max_size = size;
	}
}

static void total_alloc(struct account *a, const struct weight *w, uint64_t ns)
{
	struct totals *t = &a->total;

	t->allocs += w->count;
	t->bytes += w->bytes;
	t->usable += w->usable;
	t->live_bytes += w->bytes;
	t->live_usable += w->usable;
	t->samples++;
	if (t->live_bytes > t->peak_bytes) {
		t->peak_bytes = t->live_bytes;
		t->peak_ns = ns;
		a->version++;
	}
}

void account_alloc(struct account *a, struct live_block *block, uint32_t thread,
	uint64_t ns, bool realloced)
{
	uint64_t size = block->size & LIVE_SIZE_MASK;
	struct weight w = weigh(a, size, block->excess);
	struct timeline_step *step = step_get(a, ns);
	struct thread_counts *t = thread_get(a, thread);
	struct size_class *class = &a->sizes[size_class_of(size)];

	if (a->observer != NULL && a->observer->alloc != NULL) {
		a->observer->alloc(a->observer->data, block->site, size, ns);
	}
	block->born = ns >> 10 << LIVE_THREAD_BITS | t->thread;
	site_touch(a, block->site);
	site_alloc(&a->sites[block->site], &w, size);
	total_alloc(a, &w, ns);
	if (realloced) {
		a->sites[block->site].reallocs += w.count;
		a->total.reallocs += w.count;
	}
	class->allocs += w.count;
	class->bytes += w.bytes;
	class->usable += w.usable;
	t->allocs += w.count;
	t->bytes += w.bytes;
	t->live_bytes += w.bytes;
	if (t->live_bytes > t->peak_bytes) {
		t->peak_bytes = t->live_bytes;
	}
	t->last_alloc = block->addr;
	step->allocs += w.count;
	step->bytes += w.bytes;
	step->live = a->total.live_bytes;
	if (step->live > step->peak) {
		step->peak = step->live;
	}
	if (ns > a->total.end_ns) {
		a->total.end_ns = ns;
	}
}

/* See "Lifetimes" in docs/trace-format.md. */
static unsigned lifetime_class(const struct account *a, uint64_t ns)
{
	uint64_t limit = 4000000;
	unsigned i = 1;

	if (ns < a->tick_ns) {
		return 0;
	}
	while (i < AMUX_TRACE_LIFETIMES - 1 && ns >= limit) {
		limit *= 4;
		i++;
	}
	return i;
}

void account_end(struct account *a, const struct live_block *block,
	uint32_t thread, uint64_t ns)
{
	struct weight w = weigh(a, block->size & LIVE_SIZE_MASK, block->excess);
	struct site *site = &a->sites[block->site];
	struct timeline_step *step = step_get(a, ns);
	struct thread_counts *owner;
	uint64_t born = block->born >> LIVE_THREAD_BITS << 10;
	unsigned class = lifetime_class(a, ns > born ? ns - born : 0);

	if (a->observer != NULL && a->observer->end != NULL) {
		a->observer->end(a->observer->data, block->site,
			block->size & LIVE_SIZE_MASK, ns);
	}
	site_touch(a, block->site);
	site->frees += w.count;
	site->live_bytes -= w.bytes;
	site->live_usable -= w.usable;
	site->lifetimes[class] += w.count;
	a->lifetimes[class] += w.count;
	a->total.frees += w.count;
	a->total.live_bytes -= w.bytes;
	a->total.live_usable -= w.usable;
	step->frees += w.count;
	step->live = a->total.live_bytes;

	owner = thread_get(a, (uint32_t)(block->born & LIVE_THREAD_MASK));
	owner->live_bytes -= w.bytes;
	if (thread != 0) {
		thread &= LIVE_THREAD_MASK;
		if (owner->thread != thread) {
			thread_get(a, thread)->foreign_frees += w.count;
		} else if (owner->last_alloc == block->addr) {
			owner->temporary += w.count;
			site->temporary += w.count;
			a->total.temporary += w.count;
		}
		thread_get(a, thread)->frees += w.count;
	}
	if (ns > a->total.end_ns) {
		a->total.end_ns = ns;
	}
}

void account_failed(struct account *a, uint32_t site)
{
	a->sites[site].failed++;
	a->total.failed++;
}

static void count_settle(uint64_t *count)
{
	*count = (*count + (1 << (UNIT_SHIFT - 1))) >> UNIT_SHIFT;
}

/* Counts in 65536ths become counts. */
static void units_settle(struct account *a)
{
	for (uint32_t i = 1; i < a->site_count; i++) {
		struct site *s = &a->sites[i];

		count_settle(&s->allocs);
		count_settle(&s->frees);
		count_settle(&s->at_peak_allocs);
		count_settle(&s->temporary);
		count_settle(&s->reallocs);
		for (unsigned j = 0; j < AMUX_TRACE_LIFETIMES; j++) {
			count_settle(&s->lifetimes[j]);
		}
	}
	for (uint32_t i = 0; i < a->thread_room; i++) {
		count_settle(&a->threads[i].allocs);
		count_settle(&a->threads[i].frees);
		count_settle(&a->threads[i].foreign_frees);
		count_settle(&a->threads[i].temporary);
	}
	for (int i = 0; i < SIZE_CLASSES; i++) {
		count_settle(&a->sizes[i].allocs);
	}
	for (unsigned i = 0; i < AMUX_TRACE_LIFETIMES; i++) {
		count_settle(&a->lifetimes[i]);
	}
	for (uint32_t i = 0; i < a->timeline.count; i++) {
		count_settle(&a->timeline.steps[i].allocs);
		count_settle(&a->timeline.steps[i].frees);
	}
	count_settle(&a->total.allocs);
	count_settle(&a->total.frees);
	count_settle(&a->total.temporary);
	count_settle(&a->total.reallocs);
}

void account_finish(struct account *a)
{
	step_close(a);
	for (uint32_t i = 1; i < a->site_count; i++) {
		struct site *site = &a->sites[i];

		if (site->version != a->version) {
			site->at_peak = site->live_bytes;
			site->at_peak_allocs = site->allocs - site->frees;
		}
	}
	if (a->interval != 0) {
		units_settle(a);
	}
}
