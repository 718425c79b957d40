/* SPDX-License-Identifier: MIT */
/*
 * statistic.h - what compare says about samples, without assuming that they
 * are normal: medians, order-statistic intervals, rank tests.
 *
 * Nothing here knows what the samples mean. Samples are finite numbers.
 */
#ifndef AMUX_TOOLS_STATISTIC_H
#define AMUX_TOOLS_STATISTIC_H

#include <stddef.h>

/* The level of all intervals, and one minus the level of all tests. */
#define STATISTIC_LEVEL 0.95
#define STATISTIC_ALPHA (1 - STATISTIC_LEVEL)

struct interval {
	double low;
	double high;
	/* Probability that it covers the truth; below STATISTIC_LEVEL if there
	 * are too few samples for more, 0 if there is no interval at all. */
	double coverage;
};

/* Ascending. The other functions that take `sorted` expect it. */
void sort_samples(double *samples, size_t count);

/* count is 1 or more. */
double median_of(const double *sorted, size_t count);

/* Mean, and the standard deviation of the sample: NaN for less than two. */
double mean_of(const double *samples, size_t count);
double deviation_of(const double *samples, size_t count);

/*
 * An interval for the median between two order statistics, the narrowest
 * symmetric one that reaches the level (Conover, Practical Nonparametric
 * Statistics, 3.2). Free of assumptions about the distribution.
 */
struct interval median_interval(const double *sorted, size_t count);

/*
 * Two-sided p of the Mann-Whitney-Wilcoxon rank-sum test. Exact, also with
 * ties (mid-ranks; Streitberg and Roehmel's shift algorithm), up to 60
 * samples in both together; beyond that the normal approximation, corrected
 * for ties and continuity.
 */
double rank_sum_p(
	const double *a, size_t a_count, const double *b, size_t b_count);

/* The smallest p that rank_sum_p() can give for such counts. */
double rank_sum_least_p(size_t a_count, size_t b_count);

/*
 * How many times as large as b is a? Hodges-Lehmann: the median of all
 * quotients, with the interval that inverts the rank-sum test (Conover, 5.4).
 * All samples must be positive; otherwise coverage is 0 and *ratio NaN.
 */
struct interval ratio_interval(const double *a, size_t a_count, const double *b,
	size_t b_count, double *ratio);

/*
 * Holm's step-down correction, in place: afterwards p[i] <= ALPHA means
 * significant with the chance of any false alarm among all of them below ALPHA.
 */
void holm_adjust(double *p, size_t count);

#endif
