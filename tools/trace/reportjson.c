/* SPDX-License-Identifier: MIT */
/*
 * reportjson.c - see reportjson.h.
 */
#include "reportjson.h"

#include <stdio.h>
#include <string.h>

#include "reportbars.h"
#include "reportlines.h"
#include "tool.h"

json_object *json_number(uint64_t value)
{
	return json_object_new_uint64(value);
}

/* JSON is UTF-8: other bytes become question marks. */
json_object *json_text(const char *text)
{
	json_object *object;
	char *copy;

	if (text == NULL) {
		return NULL;
	}
	copy = tool_strdup(text);
	for (unsigned char *p = (unsigned char *)copy; *p != '\0';) {
		int more = *p < 0x80             ? 0
			   : (*p & 0xe0) == 0xc0 ? 1
			   : (*p & 0xf0) == 0xe0 ? 2
			   : (*p & 0xf8) == 0xf0 ? 3
						 : -1;
		int i = 1;

		while (i <= more && (p[i] & 0xc0) == 0x80) {
			i++;
		}
		if (more < 0 || i <= more) {
			*p++ = '?';
		} else {
			p += i;
		}
	}
	object = json_object_new_string(copy);
	free(copy);
	return object;
}

static void put(json_object *object, const char *name, json_object *value)
{
	json_object_object_add(object, name, value);
}

json_object *json_cost(const struct view *view, const struct cost *cost)
{
	json_object *object = json_object_new_object();
	json_object *lifetimes = json_object_new_array();

	for (int i = 0; i < METRIC_COUNT; i++) {
		put(object, metric_names[i], json_number(cost->metric[i]));
	}
	put(object, "frees", json_number(cost->frees));
	put(object, "leaked_blocks", json_number(cost->leaked_calls));
	if (view->trace->header.features & AMUX_TRACE_F_USABLE) {
		put(object, "usable_bytes", json_number(cost->usable));
	}
	put(object, "reallocs", json_number(cost->reallocs));
	put(object, "failed", json_number(cost->failed));
	put(object, "max_size", json_number(cost->max_size));
	if (view->trace->header.mode == AMUX_TRACE_SAMPLE) {
		put(object, "samples", json_number(cost->samples));
	}
	for (unsigned i = 0; i < AMUX_TRACE_LIFETIMES; i++) {
		json_object_array_add(
			lifetimes, json_number(cost->lifetimes[i]));
	}
	put(object, "lifetimes", lifetimes);
	return object;
}

json_object *json_place(const struct view *view, uint32_t place)
{
	const struct place *p = &view->symbols.places[place];
	json_object *object = json_object_new_object();

	put(object, "function", json_text(p->function));
	if (p->symbol != NULL && p->symbol != p->function) {
		put(object, "symbol", json_text(p->symbol));
	}
	if (p->file != NULL) {
		put(object, "file", json_text(p->file));
		put(object, "line", json_number(p->line));
	}
	if (p->object > 0) {
		put(object, "module",
			json_text(
				view->trace->info.objects[p->object - 1].path));
	}
	return object;
}

json_object *json_stack(
	const struct view *view, uint32_t place, enum metric metric)
{
	const struct view_stack *stack = lines_top_stack(view, place, metric);
	json_object *array = json_object_new_array();

	for (uint32_t i = 0; stack != NULL && i < stack->count; i++) {
		json_object_array_add(
			array, json_place(view, view->paths[stack->first + i]));
	}
	return array;
}

static const char *const state_names[] = {
	"running", "finished", "stopped", "limit", "error"};

json_object *json_summary(const struct view *view)
{
	const struct trace *t = view->trace;
	const struct totals *n = &t->account.total;
	json_object *o = json_object_new_object();
	json_object *children = json_object_new_array();
	char *damage = damage_text(&t->damage);
	static const char *const modes[] = {"", "record", "profile", "sample"};

	put(o, "file", json_text(t->path));
	put(o, "program", json_text(t->info.texts[AMUX_TRACE_TEXT_EXE]));
	put(o, "command", json_text(t->info.cmdline));
	put(o, "pid", json_number(t->header.pid));
	put(o, "allocator", json_text(t->info.texts[AMUX_TRACE_TEXT_BACKEND]));
	put(o, "mode", json_text(modes[t->header.mode & 3]));
	put(o, "state",
		json_text(t->header.state < 5 ? state_names[t->header.state]
					      : NULL));
	put(o, "start_unix_ns", json_number(t->header.real_ns));
	put(o, "end_ns",
		json_number(t->header.end_ns > n->end_ns ? t->header.end_ns
							 : n->end_ns));
	put(o, "interval", json_number(t->header.interval));
	put(o, "bytes", json_number(n->bytes));
	put(o, "calls", json_number(n->allocs));
	put(o, "frees", json_number(n->frees));
	put(o, "reallocs", json_number(n->reallocs));
	put(o, "failed", json_number(n->failed));
	put(o, "temporary", json_number(n->temporary));
	if (t->header.features & AMUX_TRACE_F_USABLE) {
		put(o, "usable_bytes", json_number(n->usable));
	}
	put(o, "peak_bytes", json_number(n->peak_bytes));
	put(o, "peak_ns", json_number(n->peak_ns));
	put(o, "leaked_bytes", json_number(n->live_bytes));
	put(o, "leaked_blocks",
		json_number(n->allocs > n->frees ? n->allocs - n->frees : 0));
	put(o, "suppressed_bytes", json_number(view->suppressed_bytes));
	put(o, "suppressed_blocks", json_number(view->suppressed_calls));
	put(o, "samples", json_number(n->samples));
	put(o, "unknown_frees", json_number(n->unknown_frees));
	put(o, "lost_events", json_number(t->lost_events));
	put(o, "damage", json_text(damage));
	for (uint32_t i = 0; i < t->info.child_count; i++) {
		json_object_array_add(
			children, json_number(t->info.children[i]));
	}
	put(o, "children", children);
	free(damage);
	return o;
}

json_object *json_timeline(const struct view *view)
{
	const struct timeline *t = &view->trace->account.timeline;
	json_object *object = json_object_new_object();
	json_object *steps = json_object_new_array();

	put(object, "step_ns", json_number(t->width));
	for (uint32_t i = 0; i < t->count; i++) {
		json_object *step = json_object_new_object();

		put(step, "peak", json_number(t->steps[i].peak));
		put(step, "live", json_number(t->steps[i].live));
		put(step, "calls", json_number(t->steps[i].allocs));
		put(step, "frees", json_number(t->steps[i].frees));
		put(step, "bytes", json_number(t->steps[i].bytes));
		json_object_array_add(steps, step);
	}
	put(object, "steps", steps);
	return object;
}

json_object *json_histograms(const struct view *view)
{
	const struct account *a = &view->trace->account;
	json_object *object = json_object_new_object();
	json_object *sizes = json_object_new_array();
	json_object *lifetimes = json_object_new_array();
	char label[64];

	for (unsigned i = 0; i < SIZE_CLASSES; i++) {
		json_object *entry;

		if (a->sizes[i].allocs == 0) {
			continue;
		}
		entry = json_object_new_object();
		bars_size_label(label, sizeof(label), i);
		put(entry, "label", json_text(label));
		put(entry, "from",
			json_number(i > 0 ? (uint64_t)1 << (i - 1) : 0));
		put(entry, "calls", json_number(a->sizes[i].allocs));
		put(entry, "bytes", json_number(a->sizes[i].bytes));
		put(entry, "usable_bytes", json_number(a->sizes[i].usable));
		json_object_array_add(sizes, entry);
	}
	for (unsigned i = 0; i < AMUX_TRACE_LIFETIMES; i++) {
		json_object *entry = json_object_new_object();

		bars_lifetime_label(label, sizeof(label), i);
		put(entry, "label", json_text(label));
		put(entry, "calls", json_number(a->lifetimes[i]));
		json_object_array_add(lifetimes, entry);
	}
	put(object, "sizes", sizes);
	put(object, "lifetimes", lifetimes);
	return object;
}

static json_object *json_threads(const struct view *view)
{
	const struct account *a = &view->trace->account;
	json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < a->thread_room; i++) {
		const struct thread_counts *t = &a->threads[i];
		const struct trace_thread_info *info =
			info_thread(&view->trace->info, t->thread);
		json_object *o;

		if (t->allocs + t->frees == 0) {
			continue;
		}
		o = json_object_new_object();
		put(o, "thread", json_number(t->thread));
		put(o, "tid", info ? json_number(info->tid) : NULL);
		put(o, "name", info ? json_text(info->name) : NULL);
		put(o, "bytes", json_number(t->bytes));
		put(o, "calls", json_number(t->allocs));
		put(o, "frees", json_number(t->frees));
		put(o, "foreign_frees", json_number(t->foreign_frees));
		put(o, "temporary", json_number(t->temporary));
		put(o, "peak_bytes", json_number(t->peak_bytes));
		put(o, "leaked_bytes", json_number(t->live_bytes));
		json_object_array_add(array, o);
	}
	return array;
}

static json_object *json_modules(const struct view *view)
{
	json_object *array = json_object_new_array();
	struct flat flat;

	flat_objects(&flat, view);
	flat_sort(&flat, METRIC_BYTES, false);
	for (uint32_t i = 0; i < flat.count; i++) {
		json_object *o = json_object_new_object();
		uint32_t object =
			view->symbols.places[flat.entries[i].place].object;

		put(o, "module",
			object > 0 ? json_text(view->trace->info
						       .objects[object - 1]
						       .path)
				   : NULL);
		put(o, "cost", json_cost(view, &flat.entries[i].self));
		json_object_array_add(array, o);
	}
	flat_fini(&flat);
	return array;
}

static json_object *json_stacks(
	const struct view *view, const struct report_options *options)
{
	json_object *array = json_object_new_array();
	struct flat flat;
	uint32_t limit = options->limit > 0 ? options->limit : UINT32_MAX;

	/* Stacks by their call site; the site's order is that of the sort. */
	flat_sites(&flat, view);
	flat_sort(&flat,
		options->sort == METRIC_COUNT ? METRIC_BYTES : options->sort,
		false);
	for (uint32_t i = 0; i < flat.count && i < limit; i++) {
		json_object *o = json_object_new_object();

		put(o, "site", json_place(view, flat.entries[i].place));
		put(o, "stacks", json_number(flat.entries[i].stacks));
		put(o, "cost", json_cost(view, &flat.entries[i].self));
		json_object_array_add(array, o);
	}
	flat_fini(&flat);
	return array;
}

/* All stacks, each with its frames as indices of "places". */
static json_object *json_paths(const struct view *view)
{
	json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < view->stack_count; i++) {
		const struct view_stack *stack = &view->stacks[i];
		json_object *o = json_object_new_object();
		json_object *frames = json_object_new_array();

		for (uint32_t j = 0; j < stack->count; j++) {
			json_object_array_add(frames,
				json_number(view->paths[stack->first + j]));
		}
		put(o, "frames", frames);
		put(o, "cost", json_cost(view, &stack->cost));
		json_object_array_add(array, o);
	}
	return array;
}

void report_json(const struct view *view, const struct report_options *options)
{
	json_object *o = json_object_new_object();
	json_object *places = json_object_new_array();

	for (uint32_t i = 0; i < view->symbols.place_count; i++) {
		json_object_array_add(places, json_place(view, i));
	}
	put(o, "format", json_text("allocmux-report"));
	put(o, "version", json_number(1));
	put(o, "summary", json_summary(view));
	put(o, "sites", json_stacks(view, options));
	put(o, "modules", json_modules(view));
	if (trace_has_events(view->trace)) {
		put(o, "threads", json_threads(view));
		put(o, "timeline", json_timeline(view));
	}
	put(o, "histograms", json_histograms(view));
	put(o, "places", places);
	put(o, "stacks", json_paths(view));
	json_print(o);
}

void json_print(json_object *object)
{
	puts(json_object_to_json_string_ext(
		object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
				JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}
