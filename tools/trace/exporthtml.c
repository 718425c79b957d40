/* SPDX-License-Identifier: MIT */
/*
 * exporthtml.c - the report in one HTML file: page, style and scripts from
 * html/, and the trace as JSON in a script element that page.js reads.
 *
 * Of the call tree, nodes are left out that make less than a ten-thousandth of
 * every metric, so that large traces open fast; their cost stays in their
 * parents.
 */
#include <json.h>
#include <string.h>

#include "calltree.h"
#include "exportform.h"
#include "livelines.h"
#include "reportjson.h"
#include "tool.h"

enum { LINES_SHOWN = 16, NODES_CUT = 10000 };

#define ASSET(name)                                                            \
	extern const char name[] __attribute__((visibility("hidden")));        \
	extern const char name##_end[] __attribute__((visibility("hidden")))

ASSET(html_page);
ASSET(html_style);
ASSET(html_script);
ASSET(html_d3);
ASSET(html_d3_licence);
ASSET(html_flame);
ASSET(html_flame_licence);

#define PUT(out, name) fwrite(name, 1, (size_t)(name##_end - (name)), out)

/* "function, file, line, module", as page.js takes them. */
static json_object *places_make(const struct view *view)
{
	json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < view->symbols.place_count; i++) {
		const struct place *p = &view->symbols.places[i];
		json_object *entry = json_object_new_array();

		json_object_array_add(entry, json_text(p->function));
		json_object_array_add(
			entry, json_text(p->file != NULL ? p->file : ""));
		json_object_array_add(entry, json_number(p->line));
		json_object_array_add(entry,
			json_text(p->object > 0
					  ? view->trace->info
						    .objects[p->object - 1]
						    .path
					  : ""));
		json_object_array_add(array, entry);
	}
	return array;
}

static bool is_kept(const struct calltree *tree, uint32_t index)
{
	const struct cost *all = &tree->nodes[0].cost;
	const struct cost *cost = &tree->nodes[index].cost;

	for (int i = 0; i < METRIC_COUNT; i++) {
		if (cost->metric[i] > all->metric[i] / NODES_CUT) {
			return true;
		}
	}
	return false;
}

static json_object *tree_make(const struct view *view)
{
	json_object *o = json_object_new_object();
	json_object *parents = json_object_new_array();
	json_object *places = json_object_new_array();
	json_object *costs = json_object_new_array();
	struct calltree tree;
	uint32_t *number;
	uint32_t count = 0;

	calltree_init(&tree, view, CALLTREE_FUNCTIONS);
	number = tool_alloc(tree.count * sizeof(*number));
	for (int i = 0; i < METRIC_COUNT; i++) {
		json_object_array_add(costs, json_object_new_array());
	}
	for (uint32_t i = 0; i < tree.count; i++) {
		const struct call_node *node = &tree.nodes[i];

		/* A parent costs no less than its children: it is kept. */
		if (i > 0 && !is_kept(&tree, i)) {
			continue;
		}
		number[i] = count++;
		json_object_array_add(
			parents, json_number(number[node->parent]));
		json_object_array_add(places, i > 0 ? json_number(node->place)
						    : json_object_new_int(-1));
		for (int j = 0; j < METRIC_COUNT; j++) {
			json_object_array_add(
				json_object_array_get_idx(costs, (size_t)j),
				json_number(node->cost.metric[j]));
		}
	}
	free(number);
	calltree_fini(&tree);
	json_object_object_add(o, "parent", parents);
	json_object_object_add(o, "place", places);
	json_object_object_add(o, "cost", costs);
	return o;
}

static json_object *sites_make(const struct view *view)
{
	json_object *array = json_object_new_array();
	struct flat flat;

	flat_sites(&flat, view);
	for (uint32_t i = 0; i < flat.count; i++) {
		json_object *entry = json_object_new_array();

		json_object_array_add(
			entry, json_number(flat.entries[i].place));
		for (int j = 0; j < METRIC_COUNT; j++) {
			json_object_array_add(entry,
				json_number(flat.entries[i].self.metric[j]));
		}
		json_object_array_add(array, entry);
	}
	flat_fini(&flat);
	return array;
}

static json_object *numbers_make(const uint64_t *values, uint32_t count)
{
	json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < count; i++) {
		json_object_array_add(array, json_number(values[i]));
	}
	return array;
}

static json_object *timeline_make(const struct view *view)
{
	const struct timeline *t = &view->trace->account.timeline;
	json_object *o = json_object_new_object();
	json_object *peak = json_object_new_array();
	json_object *live = json_object_new_array();
	json_object *array = json_object_new_array();
	struct livelines lines;

	for (uint32_t i = 0; i < t->count; i++) {
		json_object_array_add(peak, json_number(t->steps[i].peak));
		json_object_array_add(live, json_number(t->steps[i].live));
	}
	livelines_init(&lines, view, LINES_SHOWN);
	for (uint32_t i = 0; i < lines.count; i++) {
		json_object *line = json_object_new_object();

		json_object_object_add(
			line, "place", json_number(lines.places[i]));
		json_object_object_add(line, "values",
			numbers_make(
				lines.values + (size_t)i * t->count, t->count));
		json_object_array_add(array, line);
	}
	json_object_object_add(o, "step_ns", json_number(t->width));
	json_object_object_add(o, "peak", peak);
	json_object_object_add(o, "live", live);
	json_object_object_add(o, "lines", array);
	json_object_object_add(
		o, "others", numbers_make(lines.others, t->count));
	livelines_fini(&lines);
	return o;
}

/* Inside a script element "</" must not occur; JSON may write "<\/". */
static void write_json(FILE *out, json_object *o)
{
	const char *text =
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);

	for (; *text != '\0'; text++) {
		if (*text == '<') {
			fputs("\\u003c", out);
		} else {
			fputc(*text, out);
		}
	}
}

bool export_html(const struct export_request *request)
{
	const struct view *view = request->view;
	FILE *out = request->out;
	json_object *o = json_object_new_object();

	json_object_object_add(o, "summary", json_summary(view));
	json_object_object_add(o, "places", places_make(view));
	json_object_object_add(o, "tree", tree_make(view));
	json_object_object_add(o, "sites", sites_make(view));
	json_object_object_add(o, "histograms", json_histograms(view));
	json_object_object_add(o, "timeline",
		trace_has_events(view->trace) ? timeline_make(view) : NULL);
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	      "<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<title>allocmux</title>\n<style>\n",
		out);
	PUT(out, html_style);
	fputs("</style>\n</head>\n<body>\n", out);
	PUT(out, html_page);
	fputs("<script type=\"application/json\" id=\"data\">", out);
	write_json(out, o);
	fputs("</script>\n<!-- D3:\n", out);
	PUT(out, html_d3_licence);
	fputs("-->\n<script>\n", out);
	PUT(out, html_d3);
	fputs("</script>\n<!-- d3-flame-graph:\n", out);
	PUT(out, html_flame_licence);
	fputs("-->\n<script>\n", out);
	PUT(out, html_flame);
	fputs("</script>\n<script>\n", out);
	PUT(out, html_script);
	fputs("</script>\n</body>\n</html>\n", out);
	json_object_put(o);
	return true;
}
