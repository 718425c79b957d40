/* SPDX-License-Identifier: MIT */
/*
 * filter.c - regular expressions and suppressions on places.
 */
#include "filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

struct rule {
	int bit;
	bool is_regex;
	regex_t regex;
	char *glob;
};

struct filter {
	struct rule *rules;
	size_t count;
	int bits; /* of all rules */
};

/*
 * The allocation is their caller's doing: operator new and the standard
 * libraries of C++ and Rust. Heads of readable names.
 */
static const char *const glue[] = {"operator new(", "operator new[](",
	"std::", "__gnu_cxx::", "alloc::", "<alloc::", "core::", "<core::",
	"<std::", "__rust_", "__rdl_", "__rustc::"};

/*
 * Blocks that are meant to live until the end: stdio's buffers, the emergency
 * pool of C++ exceptions, what the loader and locales keep.
 */
static const char *const known[] = {"_IO_file_doallocate",
	"_IO_wfile_doallocate", "__gnu_cxx::__freeres",
	"(anonymous namespace)::pool::pool", "_dl_*", "allocate_dtv",
	"call_init*", "__static_initialization_and_destruction_0*eh_alloc*",
	"*/eh_alloc.cc", "dl_init*", "__libc_setlocale*", "setlocale", "_nl_*",
	"__tls_get_addr", "__newlocale", "tzset_internal", "__gconv_*"};

struct filter *filter_create(void)
{
	return tool_alloc(sizeof(struct filter));
}

void filter_destroy(struct filter *filter)
{
	for (size_t i = 0; i < filter->count; i++) {
		if (filter->rules[i].is_regex) {
			regfree(&filter->rules[i].regex);
		}
		free(filter->rules[i].glob);
	}
	free(filter->rules);
	free(filter);
}

static struct rule *rule_add(struct filter *filter, int bit)
{
	struct rule *rule;

	filter->rules = tool_realloc(
		filter->rules, (filter->count + 1) * sizeof(*filter->rules));
	rule = &filter->rules[filter->count++];
	memset(rule, 0, sizeof(*rule));
	rule->bit = bit;
	filter->bits |= bit;
	return rule;
}

bool filter_add(struct filter *filter, int bit, const char *regex)
{
	struct rule *rule = rule_add(filter, bit);
	int error = regcomp(&rule->regex, regex, REG_EXTENDED | REG_NOSUB);
	char text[200];

	if (error != 0) {
		regerror(error, &rule->regex, text, sizeof(text));
		tool_error("bad regular expression `%s': %s", regex, text);
		return false;
	}
	rule->is_regex = true;
	return true;
}

/* A pattern may match in the middle unless it says where it ends. */
static void suppression_add(struct filter *filter, const char *pattern)
{
	size_t length = strlen(pattern);
	bool head = pattern[0] == '^';
	bool tail = length > 0 && pattern[length - 1] == '$';

	rule_add(filter, PLACE_SUPPRESS)->glob = tool_format("%s%.*s%s",
		head ? "" : "*", (int)length - head - tail, pattern + head,
		tail ? "" : "*");
}

bool filter_suppressions(struct filter *filter, const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	int number = 0;
	bool good = true;

	if (file == NULL) {
		tool_perror("cannot read the suppressions in %s", path);
		return false;
	}
	while (good && getline(&line, &room, file) >= 0) {
		char *text = line + strspn(line, " \t");
		char *end = text + strlen(text);

		number++;
		while (end > text && strchr(" \t\r\n", end[-1]) != NULL) {
			*--end = '\0';
		}
		if (text[0] == '\0' || text[0] == '#') {
			continue;
		}
		if (strchr(text, ':') == NULL) {
			tool_error("%s:%d: expected `leak:PATTERN', found `%s'",
				path, number, text);
			good = false;
		} else if (strncmp(text, "leak:", 5) == 0 && text[5] != '\0') {
			suppression_add(filter, text + 5);
		}
	}
	if (good && ferror(file)) {
		tool_perror("cannot read the suppressions in %s", path);
		good = false;
	}
	free(line);
	fclose(file);
	return good;
}

void filter_suppress_known(struct filter *filter)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		rule_add(filter, PLACE_SUPPRESS)->glob = tool_strdup(known[i]);
	}
}

bool filter_has(const struct filter *filter, int bit)
{
	return (filter->bits & bit) != 0;
}

static bool is_match(const struct rule *rule, const char *text)
{
	if (text == NULL) {
		return false;
	}
	return rule->is_regex ? regexec(&rule->regex, text, 0, NULL, 0) == 0
			      : fnmatch(rule->glob, text, FNM_NOESCAPE) == 0;
}

int filter_bits(const struct filter *filter, const struct place *place,
	const struct trace_info *info)
{
	const char *object = place->object > 0
				     ? info->objects[place->object - 1].path
				     : NULL;
	int bits = 0;

	for (size_t i = 0; i < filter->count; i++) {
		const struct rule *rule = &filter->rules[i];

		if ((bits & rule->bit) == 0 &&
			(is_match(rule, place->function) ||
				is_match(rule, place->file) ||
				is_match(rule, object))) {
			bits |= rule->bit;
		}
	}
	for (size_t i = 0; i < sizeof(glue) / sizeof(glue[0]); i++) {
		if (strncmp(place->function, glue[i], strlen(glue[i])) == 0) {
			bits |= PLACE_GLUE;
			break;
		}
	}
	return bits;
}
