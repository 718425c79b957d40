/* SPDX-License-Identifier: MIT */
/*
 * heapview.c - sites to shown stacks.
 *
 * A repetition at the end of a stack is folded: when the last n frames are
 * calls of the same functions as the n before them, they are dropped. So any
 * depth of recursion is shown once, with up to FOLD_MAX functions in the
 * circle.
 */
#include "heapview.h"

#include <stdlib.h>
#include <string.h>

#include "tool.h"

#define FOLD_MAX 8

const char *const metric_names[METRIC_COUNT] = {
	"bytes", "calls", "peak", "leaked", "temporary"};

enum metric metric_find(const char *name)
{
	int i = 0;

	while (i < METRIC_COUNT && strcmp(metric_names[i], name) != 0) {
		i++;
	}
	return (enum metric)i;
}

bool metric_is_bytes(enum metric metric)
{
	return metric != METRIC_CALLS && metric != METRIC_TEMPORARY;
}

void cost_add(struct cost *to, const struct cost *from)
{
	for (unsigned i = 0; i < METRIC_COUNT; i++) {
		to->metric[i] += from->metric[i];
	}
	to->frees += from->frees;
	to->leaked_calls += from->leaked_calls;
	to->usable += from->usable;
	to->reallocs += from->reallocs;
	to->failed += from->failed;
	to->samples += from->samples;
	if (from->max_size > to->max_size) {
		to->max_size = from->max_size;
	}
	for (unsigned i = 0; i < AMUX_TRACE_LIFETIMES; i++) {
		to->lifetimes[i] += from->lifetimes[i];
	}
}

static struct cost cost_of(const struct site *site)
{
	struct cost cost = {
		.metric = {[METRIC_BYTES] = site->bytes,
			[METRIC_CALLS] = site->allocs,
			[METRIC_PEAK] = site->at_peak,
			[METRIC_LEAKED] = site->live_bytes,
			[METRIC_TEMPORARY] = site->temporary},
		.frees = site->frees,
		.leaked_calls = site->allocs > site->frees
					? site->allocs - site->frees
					: 0,
		.usable = site->usable,
		.reallocs = site->reallocs,
		.failed = site->failed,
		.max_size = site->max_size,
		.samples = site->samples,
	};

	memcpy(cost.lifetimes, site->lifetimes, sizeof(cost.lifetimes));
	return cost;
}

static void functions_find(struct view *view)
{
	const struct symbols *s = &view->symbols;
	uint32_t room = 16;
	uint32_t *map;

	while (room < 2 * s->place_count) {
		room *= 2;
	}
	map = tool_alloc(room * sizeof(*map));
	view->function_of =
		tool_alloc(s->place_count * sizeof(*view->function_of));
	for (uint32_t i = 1; i < s->place_count; i++) {
		const struct place *p = &s->places[i];
		uint64_t h = ((uint64_t)(uintptr_t)p->function + p->object) *
			     0x9e3779b97f4a7c15u;
		uint32_t at = (uint32_t)(h >> 32) & (room - 1);

		while (map[at] != 0 &&
			(s->places[map[at]].function != p->function ||
				s->places[map[at]].object != p->object)) {
			at = (at + 1) & (room - 1);
		}
		if (map[at] == 0) {
			map[at] = i;
		}
		view->function_of[i] = map[at];
	}
	free(map);
}

static void path_push(struct view *view, uint32_t place)
{
	size_t count = view->path_count;

	if ((count & (count - 1)) == 0) {
		view->paths = tool_realloc(view->paths,
			(count ? 2 * count : 1) * sizeof(*view->paths));
	}
	view->paths[view->path_count++] = place;
}

/*
 * The frames were pushed from the innermost; drop those that repeat what is
 * nearer to the allocation.
 */
static void path_fold(struct view *view, size_t start)
{
	const uint32_t *f = view->function_of;
	size_t count = view->path_count - start;

	for (size_t n = 1; n <= FOLD_MAX && 2 * n <= count; n++) {
		const uint32_t *tail = view->paths + view->path_count - n;
		size_t same = 0;

		while (same < n && f[tail[same]] == f[tail[same - n]]) {
			same++;
		}
		if (same == n) {
			view->path_count -= n;
			return;
		}
	}
}

/* Add the site's places; returns the bits of all its frames. */
static int path_make(
	struct view *view, uint32_t node, const struct view_options *options)
{
	const struct symbols *s = &view->symbols;
	size_t start = view->path_count;
	bool innermost = !options->all_frames;
	uint32_t last = 0;
	int bits = 0;

	for (; node != 0; node = view->trace->trie.nodes[node].parent) {
		const struct frame_places *frame = symbols_node(s, node);

		for (uint32_t i = 0; i < frame->count; i++) {
			uint32_t place = s->list[frame->first + i];

			bits |= view->bits[place];
			if (view->bits[place] & PLACE_HIDE) {
				continue;
			}
			last = place;
			if (innermost && (view->bits[place] & PLACE_GLUE)) {
				continue;
			}
			innermost = false;
			path_push(view, place);
			path_fold(view, start);
		}
	}
	if (view->path_count == start && last != 0) {
		path_push(view, last);
	}
	return bits;
}

static void stack_add(
	struct view *view, uint32_t index, const struct view_options *options)
{
	const struct site *site = &view->trace->account.sites[index];
	struct view_stack stack = {.site = index,
		.first = (uint32_t)view->path_count,
		.cost = cost_of(site)};
	int bits = path_make(view, site->node, options);
	uint32_t count = view->stack_count;

	stack.count = (uint32_t)(view->path_count - stack.first);
	if ((bits & PLACE_IGNORE) ||
		(!(bits & PLACE_FOCUS) &&
			filter_has(options->filter, PLACE_FOCUS))) {
		view->path_count = stack.first;
		view->filtered = true;
		return;
	}
	if (bits & PLACE_SUPPRESS) {
		view->suppressed_bytes += stack.cost.metric[METRIC_LEAKED];
		view->suppressed_calls += stack.cost.leaked_calls;
		stack.cost.metric[METRIC_LEAKED] = 0;
		stack.cost.leaked_calls = 0;
	}
	if ((count & (count - 1)) == 0) {
		view->stacks = tool_realloc(
			view->stacks, (count ? 2 * (size_t)count : 1) *
					      sizeof(*view->stacks));
	}
	view->stacks[view->stack_count++] = stack;
	view->stack_of_site[index] = view->stack_count;
}

void view_init(struct view *view, const struct trace *trace,
	const struct view_options *options)
{
	const struct account *a = &trace->account;

	memset(view, 0, sizeof(*view));
	view->trace = trace;
	symbols_init(
		&view->symbols, &trace->trie, &trace->info, !options->no_lines);
	view->bits = tool_alloc(view->symbols.place_count);
	for (uint32_t i = 1; i < view->symbols.place_count; i++) {
		view->bits[i] = (uint8_t)filter_bits(options->filter,
			&view->symbols.places[i], &trace->info);
	}
	functions_find(view);
	view->stack_of_site =
		tool_alloc(a->site_count * sizeof(*view->stack_of_site));
	for (uint32_t i = 1; i < a->site_count; i++) {
		if (a->sites[i].same_node == 0) {
			stack_add(view, i, options);
		}
	}
	for (uint32_t i = 1; i < a->site_count; i++) {
		uint32_t stack = view->stack_of_site[a->sites[i].same_node];

		if (a->sites[i].same_node != 0 && stack != 0) {
			struct cost cost = cost_of(&a->sites[i]);

			view->stack_of_site[i] = stack;
			cost_add(&view->stacks[stack - 1].cost, &cost);
		}
	}
	for (uint32_t i = 0; i < view->stack_count; i++) {
		cost_add(&view->total, &view->stacks[i].cost);
	}
}

void view_fini(struct view *view)
{
	symbols_fini(&view->symbols);
	free(view->stacks);
	free(view->paths);
	free(view->function_of);
	free(view->bits);
	free(view->stack_of_site);
}

const char *view_object_name(const struct view *view, uint32_t place)
{
	uint32_t object = view->symbols.places[place].object;
	const char *path;
	const char *slash;

	if (object == 0) {
		return "";
	}
	path = view->trace->info.objects[object - 1].path;
	slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}
