/* SPDX-License-Identifier: MIT */
/*
 * exportspeedscope.c - speedscope's file format: shared frames, and a profile
 * of kind "sampled" for each metric.
 */
#include <json.h>
#include <string.h>

#include "exportform.h"
#include "reportjson.h"

static json_object *frames_make(const struct view *view)
{
	json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < view->symbols.place_count; i++) {
		const struct place *p = &view->symbols.places[i];
		json_object *o = json_object_new_object();

		json_object_object_add(o, "name", json_text(p->function));
		if (p->file != NULL) {
			json_object_object_add(o, "file", json_text(p->file));
			json_object_object_add(o, "line", json_number(p->line));
		}
		json_object_array_add(array, o);
	}
	return array;
}

static json_object *profile_make(const struct view *view, enum metric metric)
{
	json_object *o = json_object_new_object();
	json_object *samples = json_object_new_array();
	json_object *weights = json_object_new_array();

	for (uint32_t i = 0; i < view->stack_count; i++) {
		const struct view_stack *stack = &view->stacks[i];
		json_object *sample;

		if (stack->cost.metric[metric] == 0) {
			continue;
		}
		sample = json_object_new_array();
		for (uint32_t j = stack->count; j-- > 0;) {
			json_object_array_add(sample,
				json_number(view->paths[stack->first + j]));
		}
		json_object_array_add(samples, sample);
		json_object_array_add(
			weights, json_number(stack->cost.metric[metric]));
	}
	json_object_object_add(o, "type", json_text("sampled"));
	json_object_object_add(o, "name", json_text(metric_names[metric]));
	json_object_object_add(o, "unit",
		json_text(metric_is_bytes(metric) ? "bytes" : "none"));
	json_object_object_add(o, "startValue", json_number(0));
	json_object_object_add(
		o, "endValue", json_number(view->total.metric[metric]));
	json_object_object_add(o, "samples", samples);
	json_object_object_add(o, "weights", weights);
	return o;
}

bool export_speedscope(const struct export_request *request)
{
	const struct view *view = request->view;
	json_object *o = json_object_new_object();
	json_object *shared = json_object_new_object();
	json_object *profiles = json_object_new_array();
	const char *exe = view->trace->info.texts[AMUX_TRACE_TEXT_EXE];

	for (int i = 0; i < METRIC_COUNT; i++) {
		json_object_array_add(
			profiles, profile_make(view, (enum metric)i));
	}
	json_object_object_add(shared, "frames", frames_make(view));
	json_object_object_add(o, "$schema",
		json_text("https://www.speedscope.app/"
			  "file-format-schema.json"));
	json_object_object_add(o, "shared", shared);
	json_object_object_add(o, "profiles", profiles);
	json_object_object_add(o, "name", json_text(exe ? exe : "heap"));
	json_object_object_add(o, "activeProfileIndex", json_number(0));
	json_object_object_add(o, "exporter", json_text("allocmux"));
	fputs(json_object_to_json_string_ext(o,
		      JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
		request->out);
	json_object_put(o);
	return true;
}
