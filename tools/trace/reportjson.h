/* SPDX-License-Identifier: MIT */
/*
 * reportjson.h - everything that a report knows, as JSON on stdout.
 *
 * Fields are described in docs/trace-reports.md.
 */
#ifndef AMUX_TOOLS_REPORTJSON_H
#define AMUX_TOOLS_REPORTJSON_H

#include <json.h>

#include "calltree.h"
#include "reporttext.h"

void report_json(const struct view *view, const struct report_options *options);

/* Parts, for other writers. The caller owns the result. */
json_object *json_number(uint64_t value);
json_object *json_text(const char *text); /* JSON null for NULL */
json_object *json_cost(const struct view *view, const struct cost *cost);
json_object *json_place(const struct view *view, uint32_t place);
/* The places of the call site's stack that costs most. */
json_object *json_stack(
	const struct view *view, uint32_t place, enum metric metric);
json_object *json_summary(const struct view *view);
json_object *json_timeline(const struct view *view);
json_object *json_histograms(const struct view *view);

/* Print and release. */
void json_print(json_object *object);

#endif
