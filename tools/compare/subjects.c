/* SPDX-License-Identifier: MIT */
/* subjects.c - see subjects.h. */
#include "subjects.h"

#include <stdlib.h>
#include <string.h>

#include "backends.h"
#include "launch.h"
#include "tool.h"

/* `all` on this machine, but for what is in the plan already. */
static int all_add(struct plan *plan)
{
	const struct backend_table *table = backends_find();
	int status = 0;

	for (size_t i = 0; status == 0 && i < table->count; i++) {
		const char *name = table->entries[i].name;

		if (plan_subject(plan, name) < 0) {
			status = plan_add_subjects(plan, name);
		}
	}
	return status;
}

/*
 * The list of --backends; `system` is there already, if it is the baseline by
 * default, and may be named again.
 */
static int backends_add(struct plan *plan, const char *list)
{
	char *copy = tool_strdup(list);
	char *rest = copy;
	char *item;
	int status = 0;

	while (status == 0 && (item = strsep(&rest, ",")) != NULL) {
		bool again = plan->subject_count > 0 &&
			     strcmp(item, plan->subjects[0].label) == 0;

		if (strcmp(item, "all") == 0) {
			status = all_add(plan);
		} else if (!again) {
			status = plan_add_subjects(plan, item);
		}
	}
	free(copy);
	return status;
}

int subjects_set(struct plan *plan, const char *list, const char *baseline)
{
	static const char standard[] = "system";
	int index;

	if (baseline == NULL) {
		/* First, where it is looked for. */
		plan_add_subjects(plan, standard);
		baseline = standard;
	}
	if (backends_add(plan, list) != 0) {
		return -1;
	}
	index = plan_subject(plan, baseline);
	if (index < 0) {
		tool_usage("--baseline %s: no backend of this label", baseline);
		return -1;
	}
	plan->baseline = (size_t)index;
	for (size_t i = 0; i < plan->subject_count; i++) {
		if (plan->subjects[i].kind == SUBJECT_SHIM &&
			launch_shim() == NULL) {
			return -1;
		}
	}
	/* Before there are children, whose environment is another. */
	backends_find();
	return 0;
}
