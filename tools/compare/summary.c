/* SPDX-License-Identifier: MIT */
/* summary.c - see summary.h. */
#include "summary.h"

#include <math.h>
#include <stdlib.h>

#include "tool.h"

struct values {
	double *sorted;
	size_t count;
};

static struct values values_collect(const struct cell *cell, size_t metric)
{
	struct values values = {
		tool_alloc(cell->count * sizeof(*values.sorted)), 0};

	for (size_t i = 0; i < cell->count; i++) {
		if (cell->runs[i].failure == NULL &&
			isfinite(cell->runs[i].values[metric])) {
			values.sorted[values.count++] =
				cell->runs[i].values[metric];
		}
	}
	sort_samples(values.sorted, values.count);
	return values;
}

static void figure_describe(struct figure *figure, const struct values *own,
	const struct values *base)
{
	*figure = (struct figure){.count = own->count,
		.median = NAN,
		.mean = NAN,
		.deviation = NAN,
		.ratio = NAN,
		.shift = NAN,
		.p = NAN};
	if (own->count == 0) {
		return;
	}
	figure->median = median_of(own->sorted, own->count);
	figure->interval = median_interval(own->sorted, own->count);
	figure->mean = mean_of(own->sorted, own->count);
	figure->deviation = deviation_of(own->sorted, own->count);
	if (base->count > 0) {
		double reference = median_of(base->sorted, base->count);

		figure->ratio =
			reference > 0 ? figure->median / reference : NAN;
	}
	figure->shift_interval = ratio_interval(own->sorted, own->count,
		base->sorted, base->count, &figure->shift);
}

static bool is_ahead(const struct metric *metric, double a, double b)
{
	return metric->more_is_better ? a > b : a < b;
}

/*
 * p of each subject against `reference`, corrected; NaN for itself and where
 * there is nothing to test.
 */
static void family_test(
	const struct values *values, size_t count, size_t reference, double *p)
{
	double *tested = tool_alloc(count * sizeof(*tested));
	size_t *which = tool_alloc(count * sizeof(*which));
	size_t tests = 0;

	for (size_t s = 0; s < count; s++) {
		p[s] = NAN;
		if (s == reference || values[s].count == 0 ||
			values[reference].count == 0) {
			continue;
		}
		which[tests] = s;
		tested[tests++] = rank_sum_p(values[s].sorted, values[s].count,
			values[reference].sorted, values[reference].count);
	}
	holm_adjust(tested, tests);
	for (size_t i = 0; i < tests; i++) {
		p[which[i]] = tested[i];
	}
	free(which);
	free(tested);
}

/* Who has the best median, and who is not significantly behind. */
static struct verdict verdict_find(const struct metric *metric,
	const struct values *values, struct figure *figures, size_t count)
{
	struct verdict verdict = {-1, -1};
	double *p = tool_alloc(count * sizeof(*p));
	size_t rivals = 0;
	size_t behind = 0;

	for (size_t s = 0; s < count; s++) {
		if (figures[s].count > 0 &&
			(verdict.best < 0 ||
				is_ahead(metric, figures[s].median,
					figures[verdict.best].median))) {
			verdict.best = (int)s;
		}
	}
	if (verdict.best >= 0) {
		family_test(values, count, (size_t)verdict.best, p);
		figures[verdict.best].is_best = true;
	}
	for (size_t s = 0; s < count && verdict.best >= 0; s++) {
		if (!isnan(p[s])) {
			rivals++;
			behind += p[s] <= STATISTIC_ALPHA;
			figures[s].is_best = p[s] > STATISTIC_ALPHA;
		}
	}
	if (rivals > 0 && behind == rivals) {
		verdict.winner = verdict.best;
	}
	free(p);
	return verdict;
}

static void metric_summarise(struct summary *summary, size_t point, size_t m)
{
	const struct plan *plan = summary->results->plan;
	size_t count = plan->subject_count;
	size_t row = point * plan->metric_count + m;
	struct figure *figures = summary->figures + row * count;
	struct values *values = tool_alloc(count * sizeof(*values));
	double *p = tool_alloc(count * sizeof(*p));

	for (size_t s = 0; s < count; s++) {
		values[s] = values_collect(
			results_cell(summary->results, point, s), m);
	}
	for (size_t s = 0; s < count; s++) {
		figure_describe(
			&figures[s], &values[s], &values[plan->baseline]);
	}
	family_test(values, count, plan->baseline, p);
	for (size_t s = 0; s < count; s++) {
		bool significant = p[s] <= STATISTIC_ALPHA;
		double base = figures[plan->baseline].median;

		figures[s].p = p[s];
		figures[s].is_better =
			significant &&
			is_ahead(&plan->metrics[m], figures[s].median, base);
		figures[s].is_worse =
			significant &&
			is_ahead(&plan->metrics[m], base, figures[s].median);
	}
	summary->verdicts[row] =
		verdict_find(&plan->metrics[m], values, figures, count);
	for (size_t s = 0; s < count; s++) {
		free(values[s].sorted);
	}
	free(values);
	free(p);
}

void summary_make(struct summary *summary, const struct results *results)
{
	const struct plan *plan = results->plan;
	size_t rows = plan->point_count * plan->metric_count;

	summary->results = results;
	summary->figures = tool_alloc(
		rows * plan->subject_count * sizeof(*summary->figures));
	summary->verdicts = tool_alloc(rows * sizeof(*summary->verdicts));
	for (size_t point = 0; point < plan->point_count; point++) {
		for (size_t m = 0; m < plan->metric_count; m++) {
			metric_summarise(summary, point, m);
		}
	}
}

void summary_free(struct summary *summary)
{
	free(summary->figures);
	free(summary->verdicts);
}

const struct figure *summary_figure(const struct summary *summary, size_t point,
	size_t metric, size_t subject)
{
	const struct plan *plan = summary->results->plan;

	return &summary->figures[(point * plan->metric_count + metric) *
					 plan->subject_count +
				 subject];
}

const struct verdict *summary_verdict(
	const struct summary *summary, size_t point, size_t metric)
{
	return &summary->verdicts[point * summary->results->plan->metric_count +
				  metric];
}

bool summary_has_metric(const struct summary *summary, size_t metric)
{
	const struct plan *plan = summary->results->plan;

	for (size_t point = 0; point < plan->point_count; point++) {
		for (size_t s = 0; s < plan->subject_count; s++) {
			const struct figure *figure =
				summary_figure(summary, point, metric, s);

			if (figure->count > 0 &&
				(figure->interval.high > 0 ||
					figure->interval.low < 0)) {
				return true;
			}
		}
	}
	return false;
}

unsigned summary_least_runs(const struct plan *plan)
{
	unsigned runs = 1;
	double tests = (double)plan->subject_count - 1;

	while (rank_sum_least_p(runs, runs) * tests > STATISTIC_ALPHA) {
		runs++;
	}
	return runs;
}
