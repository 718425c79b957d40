/* SPDX-License-Identifier: MIT */
/*
 * exportchrome.c - counter events of the Trace Event Format: live bytes in all
 * and of the greatest call sites, and allocations a second.
 */
#include <json.h>
#include <stdlib.h>
#include <string.h>

#include "calltree.h"
#include "exportform.h"
#include "livelines.h"
#include "reportjson.h"
#include "textform.h"

enum { SITES_SHOWN = 12 };

static json_object *event_make(const struct trace *trace, const char *phase,
	const char *name, uint64_t ns, json_object *args)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "ph", json_text(phase));
	json_object_object_add(o, "name", json_text(name));
	json_object_object_add(o, "pid", json_number(trace->header.pid));
	json_object_object_add(o, "tid", json_number(trace->header.pid));
	json_object_object_add(
		o, "ts", json_object_new_double((double)ns / 1000));
	json_object_object_add(o, "args", args);
	return o;
}

static void counter_add(json_object *events, const struct trace *trace,
	const char *name, uint64_t ns, const char *key, uint64_t value)
{
	json_object *args = json_object_new_object();

	json_object_object_add(args, key, json_number(value));
	json_object_array_add(events, event_make(trace, "C", name, ns, args));
}

static void totals_add(json_object *events, const struct trace *trace)
{
	const struct timeline *t = &trace->account.timeline;

	for (uint32_t i = 0; i < t->count; i++) {
		double rate =
			(double)t->steps[i].allocs * 1e9 / (double)t->width;

		counter_add(events, trace, "live bytes", t->width * i, "bytes",
			t->steps[i].peak);
		counter_add(events, trace, "allocations per second",
			t->width * i, "calls", (uint64_t)rate);
	}
	counter_add(events, trace, "live bytes", t->width * t->count, "bytes",
		trace->account.total.live_bytes);
}

static void sites_add(json_object *events, const struct view *view)
{
	struct livelines lines;
	const struct timeline *t = &view->trace->account.timeline;

	livelines_init(&lines, view, SITES_SHOWN);
	for (uint32_t l = 0; l < lines.count; l++) {
		char source[256];
		char name[512];

		text_source(source, sizeof(source), view, lines.places[l]);
		snprintf(name, sizeof(name), "live: %.200s %s",
			view->symbols.places[lines.places[l]].function, source);
		for (uint32_t i = 0; i < t->count; i++) {
			uint64_t value = lines.values[l * t->count + i];

			/* A counter keeps its value until the next event. */
			if (i == 0 ||
				value != lines.values[l * t->count + i - 1]) {
				counter_add(events, view->trace, name,
					t->width * (i + 1), "bytes", value);
			}
		}
	}
	livelines_fini(&lines);
}

bool export_chrome(const struct export_request *request)
{
	const struct trace *trace = request->view->trace;
	const char *exe = trace->info.texts[AMUX_TRACE_TEXT_EXE];
	json_object *o = json_object_new_object();
	json_object *events = json_object_new_array();
	json_object *args = json_object_new_object();

	json_object_object_add(args, "name", json_text(exe ? exe : "heap"));
	json_object_array_add(
		events, event_make(trace, "M", "process_name", 0, args));
	totals_add(events, trace);
	sites_add(events, request->view);
	json_object_object_add(o, "traceEvents", events);
	json_object_object_add(o, "displayTimeUnit", json_text("ms"));
	fputs(json_object_to_json_string_ext(o,
		      JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
		request->out);
	json_object_put(o);
	return true;
}
