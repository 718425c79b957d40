/* SPDX-License-Identifier: MIT */
/*
 * livelines.c - the time line's changes by site, added up by call site.
 */
#include "livelines.h"

#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* The place that a site is counted at; UINT32_MAX: it is not shown. */
static uint32_t site_place(const struct view *view, uint32_t site)
{
	uint32_t stack = view->stack_of_site[site];
	const struct view_stack *s;

	if (stack == 0) {
		return UINT32_MAX;
	}
	s = &view->stacks[stack - 1];
	return s->count > 0 ? view->paths[s->first] : 0;
}

/* Sum over all steps of live bytes, by place. */
static double *areas_make(const struct view *view)
{
	const struct account *a = &view->trace->account;
	const struct timeline *t = &a->timeline;
	double *areas = tool_alloc(view->symbols.place_count * sizeof(*areas));
	uint64_t *live = tool_alloc(a->site_count * sizeof(*live));

	for (size_t i = 0; i < t->change_count; i++) {
		const struct timeline_change *c = &t->changes[i];
		uint32_t place = site_place(view, c->site);

		if (place != UINT32_MAX) {
			double change = (double)c->live - (double)live[c->site];

			live[c->site] = c->live;
			areas[place] += change * (double)(t->count - c->step);
		}
	}
	free(live);
	return areas;
}

struct area {
	double area;
	uint32_t place;
};

static int area_compare(const void *a, const void *b)
{
	const struct area *x = a;
	const struct area *y = b;

	if (x->area != y->area) {
		return x->area > y->area ? -1 : 1;
	}
	return x->place < y->place ? -1 : x->place > y->place;
}

static void lines_choose(
	struct livelines *lines, const struct view *view, uint32_t limit)
{
	double *areas = areas_make(view);
	uint32_t count = view->symbols.place_count;
	struct area *sorted = tool_alloc(count * sizeof(*sorted));

	for (uint32_t i = 0; i < count; i++) {
		sorted[i] = (struct area){areas[i], i};
	}
	qsort(sorted, count, sizeof(*sorted), area_compare);
	lines->places = tool_alloc(limit * sizeof(*lines->places));
	while (lines->count < limit && lines->count < count &&
		sorted[lines->count].area > 0) {
		lines->places[lines->count] = sorted[lines->count].place;
		lines->count++;
	}
	free(sorted);
	free(areas);
}

void livelines_init(
	struct livelines *lines, const struct view *view, uint32_t limit)
{
	const struct account *a = &view->trace->account;
	const struct timeline *t = &a->timeline;
	uint64_t *live = tool_alloc(a->site_count * sizeof(*live));
	uint32_t *line_of;
	size_t at = 0;

	memset(lines, 0, sizeof(*lines));
	lines_choose(lines, view, limit);
	line_of = tool_alloc(view->symbols.place_count * sizeof(*line_of));
	for (uint32_t i = 0; i < lines->count; i++) {
		line_of[lines->places[i]] = i + 1;
	}
	lines->values = tool_alloc(
		(size_t)lines->count * t->count * sizeof(*lines->values));
	lines->others = tool_alloc(t->count * sizeof(*lines->others));
	for (uint32_t step = 0; step < t->count; step++) {
		for (uint32_t l = 0; step > 0 && l < lines->count; l++) {
			uint64_t *value = &lines->values[l * t->count + step];

			*value = value[-1];
		}
		lines->others[step] = step > 0 ? lines->others[step - 1] : 0;
		for (; at < t->change_count && t->changes[at].step == step;
			at++) {
			const struct timeline_change *c = &t->changes[at];
			uint32_t place = site_place(view, c->site);
			uint64_t *value = &lines->others[step];

			if (place == UINT32_MAX) {
				continue;
			}
			if (line_of[place] != 0) {
				value = &lines->values[(line_of[place] - 1) *
							       t->count +
						       step];
			}
			*value += c->live - live[c->site];
			live[c->site] = c->live;
		}
	}
	free(live);
	free(line_of);
}

void livelines_fini(struct livelines *lines)
{
	free(lines->places);
	free(lines->values);
	free(lines->others);
}
