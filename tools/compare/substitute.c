/* SPDX-License-Identifier: MIT */
/* substitute.c - see substitute.h. */
#include "substitute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* What stands for the name of `size` bytes, or NULL. */
static const char *value_of(const struct place *place, const char *name,
	size_t size, char *number, size_t number_size)
{
	const struct plan *plan = place->plan;
	struct {
		const char *name;
		const char *text;
		long value;
	} known[] = {
		{"backend", plan->subjects[place->subject].label, 0},
		{"run", NULL, place->run},
		{"pid", NULL, place->pid},
		{plan->sweep_name, plan->points[place->point], 0},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].name == NULL || strlen(known[i].name) != size ||
			strncmp(known[i].name, name, size) != 0) {
			continue;
		}
		if (known[i].text != NULL) {
			return known[i].text;
		}
		snprintf(number, number_size, "%ld", known[i].value);
		return number;
	}
	return NULL;
}

char *substitute(const struct place *place, const char *text)
{
	char *result = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&result, &size);
	char number[24];

	if (out == NULL) {
		tool_perror("open_memstream");
		exit(TOOL_BROKEN);
	}
	while (*text != '\0') {
		size_t name = *text == '{' ? strcspn(text + 1, "{}") : 0;
		const char *value = NULL;

		if (name > 0 && text[1 + name] == '}') {
			value = value_of(
				place, text + 1, name, number, sizeof(number));
		}
		if (value != NULL) {
			fputs(value, out);
			text += name + 2;
		} else {
			putc(*text++, out);
		}
	}
	if (fclose(out) != 0) {
		tool_perror("cannot build a command");
		exit(TOOL_BROKEN);
	}
	return result;
}

char **substitute_all(const struct place *place, char *const *argv)
{
	size_t count = 0;
	char **result;

	while (argv[count] != NULL) {
		count++;
	}
	result = tool_alloc((count + 1) * sizeof(*result));
	for (size_t i = 0; i < count; i++) {
		result[i] = substitute(place, argv[i]);
	}
	return result;
}

void strings_free(char **strings)
{
	for (size_t i = 0; strings != NULL && strings[i] != NULL; i++) {
		free(strings[i]);
	}
	free(strings);
}
