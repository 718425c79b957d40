/* SPDX-License-Identifier: MIT */
/*
 * status.c - `allocmux status`: who owns the memory of a running program.
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "operands.h"
#include "tool.h"

enum { KEY_JSON = 256 };

static const struct tool_option status_options[] = {
	{"json", KEY_JSON, NULL, "Print JSON", VALUE_ANY},
	{0},
};

static int status_main(int argc, char **argv);

const struct command command_status = {
	.name = "status",
	.usage = "PID [--json]",
	.summary = "Show which backends own a running program's memory",
	.text = "One line for each backend that has served the program: `*' "
		"marks the one that new blocks come from; the others drain as "
		"their blocks are freed. LIVE is what the program holds of it, "
		"in usable bytes, and BLOCKS in how many pieces; `-' where the "
		"allocator cannot tell. MAPPED is the memory that it has from "
		"the kernel.\n\n" TARGET_STATUS_TEXT ".",
	.options = status_options,
	.main = status_main,
};

struct owner {
	uint64_t id, active;
	uint64_t live_bytes, live_blocks, mapped_bytes;
	bool has_live, has_blocks;
	const char *name;   /* part of the answer */
	const char *origin; /* part of the answer */
};

struct report {
	const struct target *target;
	const char *version;
	uint64_t protocol, bad_pointers;
	struct owner *owners; /* owned */
	size_t count;
};

static struct {
	bool json;
} g;

static void on_option(int key, const char *value)
{
	g.json = key == KEY_JSON;
}

static void owner_add(struct report *report, const char *keys)
{
	struct owner owner = {.name = answer_rest(keys, "name")};

	if (owner.name == NULL || !answer_number(keys, "id", &owner.id)) {
		return;
	}
	owner.origin = "";
	answer_number(keys, "active", &owner.active);
	answer_number(keys, "mapped_bytes", &owner.mapped_bytes);
	owner.has_live = answer_number(keys, "live_bytes", &owner.live_bytes);
	owner.has_blocks =
		answer_number(keys, "live_blocks", &owner.live_blocks);
	report->owners = tool_realloc(
		report->owners, (report->count + 1) * sizeof(*report->owners));
	report->owners[report->count++] = owner;
}

static void origin_add(struct report *report, const char *keys)
{
	const char *path = answer_rest(keys, "path");
	uint64_t id;

	if (path == NULL || !answer_number(keys, "id", &id)) {
		return;
	}
	for (size_t i = 0; i < report->count; i++) {
		if (report->owners[i].id == id) {
			report->owners[i].origin = path;
		}
	}
}

static void report_fill(struct report *report, const struct answer *answer)
{
	for (size_t i = 0; i < answer->count; i++) {
		const char *line = answer->lines[i], *keys;

		if ((keys = answer_line(line, "owner")) != NULL) {
			owner_add(report, keys);
		} else if ((keys = answer_line(line, "origin")) != NULL) {
			origin_add(report, keys);
		} else if ((keys = answer_line(line, "allocmux")) != NULL) {
			report->version = answer_rest(keys, "version");
			answer_number(keys, "protocol", &report->protocol);
		} else if ((keys = answer_line(line, "bad_pointers")) != NULL) {
			answer_number(keys, "count", &report->bad_pointers);
		}
	}
}

/* "123 B", "1.2 MiB"; "-" if it is not known. */
static const char *size_text(bool known, uint64_t bytes, char text[16])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	int unit = 0;

	while (value >= 1024 && unit < 4) {
		value /= 1024;
		unit++;
	}
	if (!known) {
		return "-";
	}
	snprintf(text, 16, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return text;
}

static void print_table(const struct report *report)
{
	char live[16], mapped[16], blocks[24];
	int width = 7;

	for (size_t i = 0; i < report->count; i++) {
		int length = (int)strlen(report->owners[i].name);

		width = length > width ? length : width;
	}
	printf("%d (%s), allocmux %s\n", (int)report->target->pid,
		report->target->name, report->version ? report->version : "?");
	printf("  %-*s  %11s  %10s  %11s  FROM\n", width, "BACKEND", "LIVE",
		"BLOCKS", "MAPPED");
	for (size_t i = 0; i < report->count; i++) {
		const struct owner *o = &report->owners[i];

		snprintf(blocks, sizeof(blocks), "%" PRIu64, o->live_blocks);
		printf("%c %-*s  %11s  %10s  %11s  %s\n", o->active ? '*' : ' ',
			width, o->name,
			size_text(o->has_live, o->live_bytes, live),
			o->has_blocks ? blocks : "-",
			size_text(true, o->mapped_bytes, mapped), o->origin);
	}
	if (report->bad_pointers > 0) {
		printf("%" PRIu64 " bad pointers were given to free(3) and the "
		       "like\n",
			report->bad_pointers);
	}
}

static struct json_object *number_or_null(bool known, uint64_t number)
{
	return known ? json_object_new_uint64(number) : NULL;
}

static void print_json(const struct report *report)
{
	struct json_object *all = json_object_new_object();
	struct json_object *owners = json_object_new_array();

	json_object_object_add(
		all, "pid", json_object_new_int(report->target->pid));
	json_object_object_add(
		all, "command", json_object_new_string(report->target->name));
	json_object_object_add(all, "version",
		report->version ? json_object_new_string(report->version)
				: NULL);
	json_object_object_add(all, "bad_pointers",
		json_object_new_uint64(report->bad_pointers));
	for (size_t i = 0; i < report->count; i++) {
		const struct owner *o = &report->owners[i];
		struct json_object *object = json_object_new_object();

		json_object_object_add(
			object, "name", json_object_new_string(o->name));
		json_object_object_add(
			object, "origin", json_object_new_string(o->origin));
		json_object_object_add(object, "active",
			json_object_new_boolean(o->active != 0));
		json_object_object_add(object, "live_bytes",
			number_or_null(o->has_live, o->live_bytes));
		json_object_object_add(object, "live_blocks",
			number_or_null(o->has_blocks, o->live_blocks));
		json_object_object_add(object, "mapped_bytes",
			json_object_new_uint64(o->mapped_bytes));
		json_object_array_add(owners, object);
	}
	json_object_object_add(all, "owners", owners);
	puts(json_object_to_json_string_ext(
		all, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
			     JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(all);
}

static int status_main(int argc, char **argv)
{
	struct report report = {0};
	const char *operand;
	struct target target;
	struct answer answer;
	int status;

	status = operands_read(
		&command_status, argc, argv, &operand, 1, on_option);
	if (status == 0) {
		status = target_find(operand, &target);
	}
	if (status == 0) {
		status = channel_do(&target, "status", NULL, &answer);
	}
	if (status != 0) {
		return status;
	}
	report.target = &target;
	report_fill(&report, &answer);
	if (g.json) {
		print_json(&report);
	} else {
		print_table(&report);
	}
	free(report.owners);
	answer_free(&answer);
	return TOOL_OK;
}
