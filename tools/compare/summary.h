/* SPDX-License-Identifier: MIT */
/*
 * summary.h - from runs to what can be said: medians, intervals, ratios,
 * significance, the winner.
 *
 * For each metric at each point the subjects are compared
 *   - with the baseline, and
 *   - with the best median, to see whether it is a winner,
 * by rank_sum_p(), each of these two families corrected by holm_adjust().
 */
#ifndef AMUX_TOOLS_SUMMARY_H
#define AMUX_TOOLS_SUMMARY_H

#include "plan.h"
#include "statistic.h"

struct figure {
	size_t count; /* good runs that have this metric; the rest needs one */
	double median;
	struct interval interval;
	double mean;
	double deviation; /* of the sample; NaN for less than two */
	double ratio;     /* median over the baseline's; NaN if unknown */
	double shift;     /* Hodges-Lehmann estimate of the same */
	struct interval shift_interval;
	double p; /* against the baseline, corrected; NaN for the baseline */
	bool is_better; /* significantly, than the baseline */
	bool is_worse;
	bool is_best; /* the best median, or not significantly behind it */
};

struct verdict {
	int winner; /* subject, or -1: no one is significantly ahead of all */
	int best;   /* the best median, or -1: there are no figures */
};

struct summary {
	const struct results *results;
	struct figure *figures;   /* [point][metric][subject] */
	struct verdict *verdicts; /* [point][metric] */
};

void summary_make(struct summary *summary, const struct results *results);
void summary_free(struct summary *summary);

const struct figure *summary_figure(const struct summary *summary, size_t point,
	size_t metric, size_t subject);
const struct verdict *summary_verdict(
	const struct summary *summary, size_t point, size_t metric);

/* Is there anything but zeros in this metric, at any point? */
bool summary_has_metric(const struct summary *summary, size_t metric);

/*
 * Fewest runs with which one difference among the subjects could be
 * significant at all.
 */
unsigned summary_least_runs(const struct plan *plan);

#endif
