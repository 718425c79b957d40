/* SPDX-License-Identifier: MIT */
/*
 * plan.h - what is compared: subjects (backends), metrics, the command, the
 * values of a sweep; and what came out of it, run by run.
 *
 * A plan is filled from the command line or from a results file and constant
 * afterwards. Results belong to one plan and point into it.
 */
#ifndef AMUX_TOOLS_PLAN_H
#define AMUX_TOOLS_PLAN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The metrics that are always taken, in this order, before the user's own. */
enum {
	METRIC_WALL,
	METRIC_USER,
	METRIC_SYSTEM,
	METRIC_PEAK_RSS,
	METRIC_END_RSS,
	METRIC_MINOR_FAULTS,
	METRIC_MAJOR_FAULTS,
	METRIC_VOLUNTARY,
	METRIC_INVOLUNTARY,
	METRIC_BUILTIN, /* how many these are */
};

struct metric {
	char *name;
	char *unit;  /* "" if it has none or none is known */
	char *title; /* for people: "wall time" */
	bool more_is_better;
	bool is_shown;
	regex_t *regex; /* NULL for built-in ones */
};

enum subject_kind {
	SUBJECT_SHIM,    /* under the shim */
	SUBJECT_PRELOAD, /* an unmodified library preloaded, without the shim */
	SUBJECT_NONE,    /* the program as it is */
};

struct subject {
	enum subject_kind kind;
	char *label;   /* unique in a plan */
	char *backend; /* name or path; NULL for SUBJECT_NONE */
};

enum ready_kind { READY_NONE, READY_PORT, READY_LINE, READY_COMMAND };

struct run;

struct plan {
	struct subject *subjects;
	size_t subject_count;
	size_t baseline; /* index of a subject */

	struct metric *metrics;
	size_t metric_count;

	/* Without a sweep there is one point, whose value is NULL. */
	char *sweep_name;
	char **points;
	size_t point_count;

	unsigned runs;
	unsigned warmup;
	double timeout; /* seconds for one command; 0: none */
	uint64_t seed;  /* of the order within each round */
	bool same_output;

	/* Commands; {NAME} in them is replaced, see substitute.h. */
	char **command; /* NULL in server form */
	char *server;   /* these four are given to sh -c; may be NULL */
	char *load;
	char *prepare;
	char *cleanup;

	/* What samples are, over what; NULL: RSS over seconds of the load. */
	const char *sample_title;
	/* Takes more from a good run's stdout; or NULL. */
	void (*take_output)(const char *text, struct run *run);

	enum ready_kind ready;
	char *ready_value;
	double ready_timeout; /* seconds */
	int stop_signal;
};

/* One reading of memory in the course of a run. */
struct sample {
	double time; /* seconds since the load began, or as the plan says */
	double rss;  /* KiB */
	double live; /* KiB that the program held; 0 if unknown */
};

struct run {
	double *values; /* plan->metric_count; NaN where unknown */
	char *failure;  /* one line, or NULL */
	struct sample *samples;
	size_t sample_count;
};

/* The runs of one subject at one point; warm-ups are not kept. */
struct cell {
	struct run *runs;
	size_t count;
};

struct results {
	const struct plan *plan;
	struct cell *cells; /* [point][subject] */
	char *machine;      /* processor, cores, kernel: for people */
	char *date;         /* ISO 8601 */
};

/* A plan with the built-in metrics, one point, and nothing to run. */
void plan_init(struct plan *plan);

/*
 * Parsing of option values; each returns 0, or -1 when it has said what is
 * wrong. plan_add_subjects: "LABEL=NAME,preload:PATH,none,...".
 * plan_add_metric: "NAME[:max|:min]=REGEX". plan_set_sweep: "NAME=V,V,...".
 * plan_set_ready: "port=N", "line=REGEX", "command=CMD". plan_set_shown:
 * "wall,peak_rss,...".
 */
int plan_add_subjects(struct plan *plan, const char *list);
int plan_add_metric(struct plan *plan, const char *text);
int plan_set_sweep(struct plan *plan, const char *text);
int plan_set_ready(struct plan *plan, const char *text);
int plan_set_shown(struct plan *plan, const char *list);

/* Index, or -1. */
int plan_subject(const struct plan *plan, const char *label);
int plan_metric(const struct plan *plan, const char *name);

void plan_append_subject(struct plan *plan, struct subject subject);
void plan_append_metric(struct plan *plan, struct metric metric);

void results_init(struct results *results, const struct plan *plan);
struct cell *results_cell(
	const struct results *results, size_t point, size_t subject);

/* A run with all values NaN and no failure. */
struct run run_empty(const struct plan *plan);
void cell_append(struct cell *cell, struct run run);
/* Runs without a failure. */
size_t cell_good(const struct cell *cell);

#endif
