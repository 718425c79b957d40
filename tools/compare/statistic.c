/* SPDX-License-Identifier: MIT */
/*
 * statistic.c - see statistic.h for the methods and their sources.
 *
 * GSL gives the medians and the distributions; the permutation distribution of
 * rank sums, which it does not have, is counted here.
 */
#include "statistic.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

enum { EXACT_MAX = 60 };

void sort_samples(double *samples, size_t count)
{
	gsl_sort(samples, 1, count);
}

double median_of(const double *sorted, size_t count)
{
	return gsl_stats_median_from_sorted_data(sorted, 1, count);
}

double mean_of(const double *samples, size_t count)
{
	return gsl_stats_mean(samples, 1, count);
}

double deviation_of(const double *samples, size_t count)
{
	return count < 2 ? NAN : gsl_stats_sd(samples, 1, count);
}

struct interval median_interval(const double *sorted, size_t count)
{
	size_t skip = 0; /* samples outside, on each side */
	struct interval result;

	/*
	 * The median lies outside of (skip+1)-th .. (n-skip)-th if at most
	 * `skip` of the samples fell on one side of it.
	 */
	while (skip + 1 < (count + 1) / 2 &&
		2 * gsl_cdf_binomial_P(
			    (unsigned)skip + 1, 0.5, (unsigned)count) <=
			STATISTIC_ALPHA) {
		skip++;
	}
	result.low = sorted[skip];
	result.high = sorted[count - 1 - skip];
	result.coverage = fmax(0.0, 1 - 2 * gsl_cdf_binomial_P((unsigned)skip,
						    0.5, (unsigned)count));
	return result;
}

/*
 * counts[s] := in how many ways can `take` of the numbers sum to s? As double:
 * all values are below 2^60, and relative errors are what matters. The caller
 * frees it.
 */
static double *subset_sums(
	const unsigned *numbers, size_t count, size_t take, size_t sum_max)
{
	size_t row = sum_max + 1;
	double *ways = tool_alloc((take + 1) * row * sizeof(*ways));

	ways[0] = 1;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = take < i + 1 ? take : i + 1; k > 0; k--) {
			double *to = ways + k * row;
			const double *from = ways + (k - 1) * row;

			for (size_t s = sum_max; s >= numbers[i]; s--) {
				to[s] += from[s - numbers[i]];
			}
		}
	}
	memmove(ways, ways + take * row, row * sizeof(*ways));
	return ways;
}

struct ranked {
	double value;
	bool from_a;
	unsigned twice; /* its mid-rank, doubled to be whole */
};

static int ranked_compare(const void *left, const void *right)
{
	const struct ranked *l = left;
	const struct ranked *r = right;

	return (l->value > r->value) - (l->value < r->value);
}

/* Sort and rank; returns the sum of t^3 - t over groups of t equal values. */
static double ranks_assign(struct ranked *all, size_t count)
{
	double ties = 0;

	qsort(all, count, sizeof(*all), ranked_compare);
	for (size_t i = 0; i < count;) {
		size_t end = i + 1;
		double t;

		while (end < count && !(all[end].value > all[i].value)) {
			end++;
		}
		t = (double)(end - i);
		ties += t * t * t - t;
		for (size_t k = i; k < end; k++) {
			all[k].twice = (unsigned)(i + 1 + end);
		}
		i = end;
	}
	return ties;
}

static double rank_sum_p_exact(const struct ranked *all, size_t count,
	size_t a_count, unsigned observed)
{
	unsigned *numbers = tool_alloc(count * sizeof(*numbers));
	size_t sum_max = count * (count + 1);
	double *ways;
	double middle = (double)a_count * (double)(count + 1);
	double distance = fabs(observed - middle);
	double extreme = 0;
	double total = 0;

	for (size_t i = 0; i < count; i++) {
		numbers[i] = all[i].twice;
	}
	ways = subset_sums(numbers, count, a_count, sum_max);
	for (size_t s = 0; s <= sum_max; s++) {
		total += ways[s];
		if (fabs((double)s - middle) >= distance) {
			extreme += ways[s];
		}
	}
	free(ways);
	free(numbers);
	return fmin(1.0, extreme / total);
}

static double rank_sum_p_normal(
	double a, double b, double ties, double twice_sum)
{
	double n = a + b;
	double distance = fabs(twice_sum / 2 - a * (n + 1) / 2) - 0.5;
	double variance = a * b / 12 * (n + 1 - ties / (n * (n - 1)));

	if (variance <= 0 || distance <= 0) {
		return 1;
	}
	return 2 * gsl_cdf_ugaussian_Q(distance / sqrt(variance));
}

double rank_sum_p(
	const double *a, size_t a_count, const double *b, size_t b_count)
{
	size_t count = a_count + b_count;
	struct ranked *all;
	unsigned sum = 0;
	double ties;
	double p;

	if (a_count == 0 || b_count == 0) {
		return 1;
	}
	all = tool_alloc(count * sizeof(*all));
	for (size_t i = 0; i < count; i++) {
		all[i].from_a = i < a_count;
		all[i].value = i < a_count ? a[i] : b[i - a_count];
	}
	ties = ranks_assign(all, count);
	for (size_t i = 0; i < count; i++) {
		sum += all[i].from_a ? all[i].twice : 0;
	}
	if (count <= EXACT_MAX) {
		p = rank_sum_p_exact(all, count, a_count, sum);
	} else {
		p = rank_sum_p_normal(
			(double)a_count, (double)b_count, ties, sum);
	}
	free(all);
	return p;
}

double rank_sum_least_p(size_t a_count, size_t b_count)
{
	double ways = 1; /* to choose a_count of both */

	for (size_t i = 1; i <= a_count; i++) {
		ways *= (double)(b_count + i) / (double)i;
	}
	return fmin(1.0, 2 / ways);
}

/*
 * How many of the a*b sorted quotients may be left out on each side: the
 * largest k with P(U < k) <= ALPHA / 2 without ties. *outside := that P.
 */
static size_t quotients_outside(size_t a_count, size_t b_count, double *outside)
{
	size_t count = a_count + b_count;
	double p = 0;
	size_t k = 0;

	*outside = 0;
	if (count > EXACT_MAX) {
		double a = (double)a_count;
		double b = (double)b_count;
		double z = gsl_cdf_ugaussian_Pinv(1 - STATISTIC_ALPHA / 2);
		double cut = a * b / 2 - z * sqrt(a * b * (a + b + 1) / 12);

		*outside = STATISTIC_ALPHA / 2;
		return (size_t)fmax(0.0, floor(cut));
	}
	unsigned *ranks = tool_alloc(count * sizeof(*ranks));
	size_t base = a_count * (a_count + 1) / 2; /* least rank sum: U = 0 */
	size_t sum_max = count * (count + 1) / 2;
	double total = 0;
	double *ways;

	for (size_t i = 0; i < count; i++) {
		ranks[i] = (unsigned)i + 1;
	}
	ways = subset_sums(ranks, count, a_count, sum_max);
	for (size_t s = 0; s <= sum_max; s++) {
		total += ways[s];
	}
	while (k < a_count * b_count / 2) {
		p += ways[base + k] / total;
		if (p > STATISTIC_ALPHA / 2) {
			break;
		}
		*outside = p;
		k++;
	}
	free(ways);
	free(ranks);
	return k;
}

struct interval ratio_interval(const double *a, size_t a_count, const double *b,
	size_t b_count, double *ratio)
{
	size_t count = a_count * b_count;
	struct interval result = {NAN, NAN, 0};
	double *quotients;
	double outside;
	size_t skip;

	*ratio = NAN;
	if (count == 0 || gsl_stats_min(a, 1, a_count) <= 0 ||
		gsl_stats_min(b, 1, b_count) <= 0) {
		return result;
	}
	quotients = tool_alloc(count * sizeof(*quotients));
	for (size_t i = 0; i < count; i++) {
		quotients[i] = a[i / b_count] / b[i % b_count];
	}
	sort_samples(quotients, count);
	*ratio = median_of(quotients, count);
	skip = quotients_outside(a_count, b_count, &outside);
	if (skip > 0) {
		result.low = quotients[skip - 1];
		result.high = quotients[count - skip];
		result.coverage = 1 - 2 * outside;
	} else {
		result.low = quotients[0];
		result.high = quotients[count - 1];
		result.coverage = 1 - rank_sum_least_p(a_count, b_count);
	}
	free(quotients);
	return result;
}

void holm_adjust(double *p, size_t count)
{
	size_t *order = tool_alloc(count * sizeof(*order));
	double least = 0;

	gsl_sort_index(order, p, 1, count);
	for (size_t i = 0; i < count; i++) {
		double adjusted = p[order[i]] * (double)(count - i);

		least = fmax(least, fmin(1.0, adjusted));
		p[order[i]] = least;
	}
	free(order);
}
