/* SPDX-License-Identifier: MIT */
/*
 * execute.c - rounds of runs, and what is read from their output.
 *
 * Interleaving spreads whatever else happens on the machine over all subjects
 * alike; a random order within the round keeps one from always following the
 * same other. The generator is GSL's, seeded by the plan.
 */
#include "execute.h"

#include <errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"
#include "progress.h"
#include "server.h"
#include "substitute.h"
#include "tool.h"

/* What the first good run at a point wrote, for --same-output. */
struct reference {
	char *text;
	size_t size;
	char *label;
};

/* The last match of the metric's regex in text, as a number. */
static bool metric_read(
	const struct metric *metric, const char *text, double *value)
{
	regmatch_t match[2];
	const char *at = text;
	bool found = false;
	int flags = 0;

	while (regexec(metric->regex, at, 2, match, flags) == 0) {
		regoff_t from =
			match[1].rm_so >= 0 ? match[1].rm_so : match[0].rm_so;
		char *end;
		double number = strtod(at + from, &end);

		if (end != at + from) {
			*value = number;
			found = true;
		}
		if (at[match[0].rm_eo] == '\0') {
			break;
		}
		/* At least one character on, also after an empty match. */
		at += match[0].rm_eo > 0 ? match[0].rm_eo : 1;
		flags = at[-1] == '\n' ? 0 : REG_NOTBOL;
	}
	return found;
}

static void metrics_read(
	const struct plan *plan, const struct capture *capture, struct run *run)
{
	char *out = capture_read(capture->out, NULL);
	char *err = capture_read(capture->err, NULL);

	for (size_t m = METRIC_BUILTIN; m < plan->metric_count; m++) {
		const struct metric *metric = &plan->metrics[m];

		if (run->failure == NULL &&
			!metric_read(metric, out, &run->values[m]) &&
			!metric_read(metric, err, &run->values[m])) {
			run->failure = tool_format(
				"the output has no metric `%s'", metric->name);
		}
	}
	if (run->failure == NULL && plan->take_output != NULL) {
		plan->take_output(out, run);
	}
	free(out);
	free(err);
}

static void output_compare(const struct place *place,
	const struct capture *capture, struct reference *reference,
	struct run *run)
{
	const char *label = place->plan->subjects[place->subject].label;
	size_t size;
	char *text = capture_read(capture->out, &size);

	if (reference->text == NULL) {
		*reference = (struct reference){text, size, tool_strdup(label)};
		return;
	}
	if (size != reference->size ||
		memcmp(text, reference->text, size) != 0) {
		run->failure = tool_format("the output differs from that under "
					   "%s",
			reference->label);
	}
	free(text);
}

/* prepare and cleanup; a failure of theirs is the run's. */
static void helper_run(const struct place *place, const char *text,
	const char *what, struct run *run)
{
	char *command;
	char *failure;

	if (text == NULL) {
		return;
	}
	command = substitute(place, text);
	shell_run(command, place->plan->timeout, what, &failure);
	free(command);
	if (run->failure == NULL) {
		run->failure = failure;
	} else {
		free(failure);
	}
}

static struct run run_once(
	const struct place *place, struct reference *reference)
{
	const struct plan *plan = place->plan;
	struct run run = run_empty(plan);
	struct capture capture;

	if (capture_open(&capture) != 0) {
		exit(TOOL_BROKEN);
	}
	helper_run(place, plan->prepare, "prepare", &run);
	if (run.failure == NULL && plan->server != NULL) {
		measure_server(place, &capture, &run);
	} else if (run.failure == NULL) {
		char **argv = substitute_all(place, plan->command);

		measure_command(plan, &plan->subjects[place->subject], argv,
			&capture, &run);
		strings_free(argv);
	}
	if (run.failure == NULL) {
		metrics_read(plan, &capture, &run);
	}
	if (run.failure == NULL && plan->same_output) {
		output_compare(place, &capture, reference, &run);
	}
	helper_run(place, plan->cleanup, "cleanup", &run);
	capture_close(&capture);
	return run;
}

static void run_free(struct run *run)
{
	free(run->values);
	free(run->failure);
	free(run->samples);
}

/* After so many failures without one success there are no more attempts. */
enum { ATTEMPTS_MAX = 2 };

struct session {
	const struct plan *plan;
	struct results *results;
	struct reference *references; /* one a point */
	struct progress progress;
	size_t done;
};

static void step(struct session *session, size_t which, unsigned round)
{
	const struct plan *plan = session->plan;
	struct place place = {.plan = plan,
		.point = which / plan->subject_count,
		.subject = which % plan->subject_count,
		.run = round};
	char *what =
		tool_format("%s%s%s%s%s%s", plan->subjects[place.subject].label,
			plan->sweep_name ? ", " : "",
			plan->sweep_name ? plan->sweep_name : "",
			plan->sweep_name ? "=" : "",
			plan->sweep_name ? plan->points[place.point] : "",
			round < plan->warmup ? " (warm-up)" : "");
	struct cell *cell =
		results_cell(session->results, place.point, place.subject);
	struct run run;

	progress_show(&session->progress, session->done, what);
	free(what);
	session->done++;
	if (cell->count >= ATTEMPTS_MAX && cell_good(cell) == 0) {
		return;
	}
	run = run_once(&place, &session->references[place.point]);
	/* A warm-up that fails is not dropped either. */
	if (round < plan->warmup && run.failure == NULL) {
		run_free(&run);
	} else {
		cell_append(cell, run);
	}
}

/*
 * The baseline goes first in the very first round: it is the reference for the
 * output.
 */
static void baseline_first(
	size_t *order, size_t count, size_t subjects, size_t baseline)
{
	size_t next = 0;

	for (size_t i = 0; i < count; i++) {
		if (order[i] % subjects == baseline) {
			size_t which = order[i];

			memmove(order + next + 1, order + next,
				(i - next) * sizeof(*order));
			order[next++] = which;
		}
	}
}

static char *cpu_name(void)
{
	FILE *in = fopen("/proc/cpuinfo", "re");
	char line[256];
	char *name = NULL;

	while (in != NULL && name == NULL && fgets(line, sizeof(line), in)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
			line[strcspn(line, "\n")] = '\0';
			name = tool_strdup(colon + 2);
		}
	}
	if (in != NULL) {
		fclose(in);
	}
	return name != NULL ? name : tool_strdup("unknown processor");
}

static void results_describe(struct results *results)
{
	struct utsname system;
	char *cpu = cpu_name();
	time_t now = time(NULL);
	char date[32];

	uname(&system);
	results->machine = tool_format("%s, %ld processors, %s, %s %s", cpu,
		sysconf(_SC_NPROCESSORS_ONLN), system.machine, system.sysname,
		system.release);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	results->date = tool_strdup(date);
	free(cpu);
}

void execute_plan(const struct plan *plan, struct results *results)
{
	size_t count = plan->subject_count * plan->point_count;
	unsigned rounds = plan->warmup + plan->runs;
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
	size_t *order = tool_alloc(count * sizeof(*order));
	struct session session = {.plan = plan, .results = results};

	session.references =
		tool_alloc(plan->point_count * sizeof(*session.references));
	results_describe(results);
	gsl_rng_set(random, (unsigned long)plan->seed);
	/* Orphans of a command become ours, so that they can be ended. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	for (size_t i = 0; i < count; i++) {
		order[i] = i;
	}
	progress_begin(&session.progress, count * rounds);
	for (unsigned round = 0; round < rounds; round++) {
		gsl_ran_shuffle(random, order, count, sizeof(*order));
		if (round == 0) {
			baseline_first(order, count, plan->subject_count,
				plan->baseline);
		}
		for (size_t i = 0; i < count; i++) {
			step(&session, order[i], round);
		}
	}
	progress_end(&session.progress);
	for (size_t i = 0; i < plan->point_count; i++) {
		free(session.references[i].text);
		free(session.references[i].label);
	}
	free(session.references);
	free(order);
	gsl_rng_free(random);
}
