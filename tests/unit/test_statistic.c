/* SPDX-License-Identifier: MIT */
/*
 * test_statistic.c - against values counted by hand or by enumeration of all
 * permutations, independently of the code.
 */
#include "unit.h"

#include <math.h>

#include "statistic.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assert_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance)) {
		fail_msg("%.12g is not %.12g", value, expected);
	}
}

static void test_median_of_odd_count_is_the_middle(void **state)
{
	double samples[] = {9, 1, 5};

	sort_samples(samples, COUNT(samples));
	assert_near(median_of(samples, COUNT(samples)), 5, 0);
}

static void test_median_of_even_count_is_between(void **state)
{
	double samples[] = {9, 1, 5, 7};

	sort_samples(samples, COUNT(samples));
	assert_near(median_of(samples, COUNT(samples)), 6, 0);
}

static void test_interval_of_few_samples_tells_its_coverage(void **state)
{
	const double samples[] = {1, 2, 3, 4, 5};
	struct interval interval = median_interval(samples, COUNT(samples));

	assert_near(interval.low, 1, 0);
	assert_near(interval.high, 5, 0);
	assert_near(interval.coverage, 1 - 2.0 / 32, 1e-12);
}

/* The textbook's table: n = 10 gives the 2nd and the 9th, 97.9 %. */
static void test_interval_is_the_narrowest_that_reaches_the_level(void **state)
{
	const double samples[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	struct interval interval = median_interval(samples, COUNT(samples));

	assert_near(interval.low, 2, 0);
	assert_near(interval.high, 9, 0);
	assert_near(interval.coverage, 1 - 2 * 11.0 / 1024, 1e-12);
}

static void test_interval_of_one_sample_covers_nothing(void **state)
{
	const double sample = 4;
	struct interval interval = median_interval(&sample, 1);

	assert_near(interval.low, 4, 0);
	assert_near(interval.high, 4, 0);
	assert_near(interval.coverage, 0, 0);
}

static void test_rank_sum_of_separate_samples(void **state)
{
	const double a[] = {1, 2, 3};
	const double b[] = {4, 5, 6};

	assert_near(rank_sum_p(a, 3, b, 3), 2.0 / 20, 1e-12);
	assert_near(rank_sum_p(b, 3, a, 3), 2.0 / 20, 1e-12);
}

static void test_rank_sum_of_overlapping_samples(void **state)
{
	const double a[] = {1.1, 2.2, 3.3, 4.4};
	const double b[] = {2.5, 3.5, 4.5, 5.5, 6.5};

	assert_near(rank_sum_p(a, 4, b, 5), 14.0 / 126, 1e-12);
}

static void test_rank_sum_with_ties_is_exact(void **state)
{
	const double a[] = {1, 2, 2, 3};
	const double b[] = {2, 3, 4, 4};

	assert_near(rank_sum_p(a, 4, b, 4), 14.0 / 70, 1e-12);
}

static void test_rank_sum_of_equal_samples_is_one(void **state)
{
	const double a[] = {5, 5, 5};

	assert_near(rank_sum_p(a, 3, a, 3), 1, 0);
}

/* 31 against 31, shifted by 8.5 of 31: exactly 0.00112217. */
static void test_rank_sum_of_many_samples_is_near_the_exact(void **state)
{
	double a[31];
	double b[31];

	for (int i = 0; i < 31; i++) {
		a[i] = i;
		b[i] = i + 8.5;
	}
	assert_near(rank_sum_p(a, 31, b, 31), 0.00112217, 0.0005);
}

static void test_rank_sum_many_equal_samples_is_one(void **state)
{
	double a[40] = {0};

	assert_near(rank_sum_p(a, 40, a, 40), 1, 0);
}

static void test_rank_sum_least_p_is_reached(void **state)
{
	const double a[] = {1, 2, 3, 4, 5};
	const double b[] = {6, 7, 8, 9};

	assert_near(rank_sum_least_p(5, 4), rank_sum_p(a, 5, b, 4), 1e-12);
}

static void test_ratio_of_a_constant_factor_is_that_factor(void **state)
{
	const double a[] = {12, 24, 36, 48, 60};
	const double b[] = {10, 20, 30, 40, 50};
	double ratio;

	ratio_interval(a, 5, b, 5, &ratio);
	assert_near(ratio, 1.2, 1e-12);
}

/*
 * 5 against 5: P(U <= 2) = 4/252 is the last within 2.5 %, so the third
 * smallest and the third largest of the 25 quotients.
 */
static void test_ratio_interval_inverts_the_rank_sum_test(void **state)
{
	const double a[] = {1, 2, 3, 4, 5};
	const double b[] = {1, 1, 1, 1, 1};
	struct interval interval;
	double ratio;

	interval = ratio_interval(a, 5, b, 5, &ratio);
	assert_near(ratio, 3, 0);
	assert_near(interval.low, 1, 0);
	assert_near(interval.high, 5, 0);
	assert_near(interval.coverage, 1 - 2 * 4.0 / 252, 1e-12);
}

static void test_ratio_to_zero_is_unknown(void **state)
{
	const double a[] = {1, 2};
	const double b[] = {0, 1};
	double ratio;
	struct interval interval = ratio_interval(a, 2, b, 2, &ratio);

	assert_true(isnan(ratio));
	assert_near(interval.coverage, 0, 0);
}

static void test_holm_multiplies_and_never_falls(void **state)
{
	double p[] = {0.01, 0.04, 0.03};

	holm_adjust(p, 3);
	assert_near(p[0], 0.03, 1e-12);
	assert_near(p[1], 0.06, 1e-12);
	assert_near(p[2], 0.06, 1e-12);
}

static void test_holm_stays_a_probability(void **state)
{
	double p[] = {0.6, 0.9};

	holm_adjust(p, 2);
	assert_near(p[0], 1, 0);
	assert_near(p[1], 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_median_of_odd_count_is_the_middle),
		cmocka_unit_test(test_median_of_even_count_is_between),
		cmocka_unit_test(
			test_interval_of_few_samples_tells_its_coverage),
		cmocka_unit_test(
			test_interval_is_the_narrowest_that_reaches_the_level),
		cmocka_unit_test(test_interval_of_one_sample_covers_nothing),
		cmocka_unit_test(test_rank_sum_of_separate_samples),
		cmocka_unit_test(test_rank_sum_of_overlapping_samples),
		cmocka_unit_test(test_rank_sum_with_ties_is_exact),
		cmocka_unit_test(test_rank_sum_of_equal_samples_is_one),
		cmocka_unit_test(
			test_rank_sum_of_many_samples_is_near_the_exact),
		cmocka_unit_test(test_rank_sum_many_equal_samples_is_one),
		cmocka_unit_test(test_rank_sum_least_p_is_reached),
		cmocka_unit_test(
			test_ratio_of_a_constant_factor_is_that_factor),
		cmocka_unit_test(test_ratio_interval_inverts_the_rank_sum_test),
		cmocka_unit_test(test_ratio_to_zero_is_unknown),
		cmocka_unit_test(test_holm_multiplies_and_never_falls),
		cmocka_unit_test(test_holm_stays_a_probability),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
