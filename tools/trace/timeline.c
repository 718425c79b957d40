/* SPDX-License-Identifier: MIT */
/*
 * timeline.c - steps of a time line and their merging.
 */
#include "timeline.h"

#include <stdlib.h>
#include <string.h>

#include "tool.h"

void timeline_init(struct timeline *timeline, uint64_t width)
{
	memset(timeline, 0, sizeof(*timeline));
	timeline->width = width > 0 ? width : 1;
	timeline->count = 1;
}

void timeline_fini(struct timeline *timeline)
{
	free(timeline->changes);
	timeline->changes = NULL;
}

/* Of two changes of a site in one step the later counts. */
static void changes_halve(struct timeline *t)
{
	size_t kept = 0;
	uint32_t sites = 0;
	uint32_t *last; /* step + 1 of the site's last change kept */
	size_t *place;

	for (size_t i = 0; i < t->change_count; i++) {
		if (t->changes[i].site >= sites) {
			sites = t->changes[i].site + 1;
		}
	}
	last = tool_alloc(sites * sizeof(*last));
	place = tool_alloc(sites * sizeof(*place));
	for (size_t i = 0; i < t->change_count; i++) {
		struct timeline_change change = t->changes[i];

		change.step /= 2;
		if (last[change.site] == change.step + 1) {
			t->changes[place[change.site]].live = change.live;
			continue;
		}
		last[change.site] = change.step + 1;
		place[change.site] = kept;
		t->changes[kept++] = change;
	}
	t->change_count = kept;
	free(last);
	free(place);
}

static void steps_halve(struct timeline *t)
{
	for (uint32_t i = 0; i < t->count; i += 2) {
		struct timeline_step *to = &t->steps[i / 2];
		struct timeline_step one = t->steps[i];
		struct timeline_step two =
			i + 1 < t->count
				? t->steps[i + 1]
				: (struct timeline_step){.live = one.live};

		to->peak = one.peak > two.peak ? one.peak : two.peak;
		to->live = two.live;
		to->allocs = one.allocs + two.allocs;
		to->frees = one.frees + two.frees;
		to->bytes = one.bytes + two.bytes;
	}
	t->count = (t->count + 1) / 2;
	t->width *= 2;
	changes_halve(t);
}

void timeline_extend(struct timeline *t, uint64_t ns, uint64_t live)
{
	while (ns / t->width >= TIMELINE_MAX) {
		steps_halve(t);
	}
	while (t->count <= ns / t->width) {
		t->steps[t->count++] =
			(struct timeline_step){.peak = live, .live = live};
	}
}

void timeline_change_add(struct timeline *t, uint32_t site, uint64_t live)
{
	if (t->change_count == t->change_room) {
		t->change_room = t->change_room ? 2 * t->change_room : 1024;
		t->changes = tool_realloc(
			t->changes, t->change_room * sizeof(*t->changes));
	}
	t->changes[t->change_count++] = (struct timeline_change){
		.step = t->count - 1, .site = site, .live = live};
}
