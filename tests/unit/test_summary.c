/* SPDX-License-Identifier: MIT */
/*
 * test_summary.c - what compare says of samples whose truth is known: winners,
 * ties, failures, and the rates of false and missed alarms.
 *
 * Samples are drawn by a seeded generator: the tests depend on no clock.
 */
#include "unit.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>

#include "plan.h"
#include "summary.h"
#include "tool.h"

enum { TRIALS = 400, RUNS = 10, SUBJECTS = 8 };

struct fixture {
	struct plan plan;
	struct results results;
	struct summary summary;
};

static void fixture_init(struct fixture *fixture, const char *subjects)
{
	plan_init(&fixture->plan);
	assert_int_equal(plan_add_subjects(&fixture->plan, subjects), 0);
	assert_int_equal(
		plan_add_metric(&fixture->plan, "rate:max=([0-9]+)"), 0);
	results_init(&fixture->results, &fixture->plan);
}

static void value_add(
	struct fixture *fixture, size_t subject, size_t metric, double value)
{
	struct run run = run_empty(&fixture->plan);

	run.values[metric] = value;
	cell_append(results_cell(&fixture->results, 0, subject), run);
}

static const struct figure *figure_of(
	struct fixture *fixture, size_t metric, size_t subject)
{
	return summary_figure(&fixture->summary, 0, metric, subject);
}

static const struct verdict *verdict_of(struct fixture *fixture, size_t metric)
{
	return summary_verdict(&fixture->summary, 0, metric);
}

static void test_summary_has_median_and_ratio(void **state)
{
	struct fixture f;

	fixture_init(&f, "system,b");
	for (int i = 0; i < 5; i++) {
		value_add(&f, 0, METRIC_WALL, 10 + i);
		value_add(&f, 1, METRIC_WALL, 2 * (10 + i));
	}
	summary_make(&f.summary, &f.results);
	assert_true(figure_of(&f, METRIC_WALL, 0)->median == 12);
	assert_true(figure_of(&f, METRIC_WALL, 1)->ratio == 2);
}

static void test_summary_separate_samples_have_a_winner(void **state)
{
	struct fixture f;

	fixture_init(&f, "system,b,c");
	for (int i = 0; i < 6; i++) {
		value_add(&f, 0, METRIC_WALL, 30 + i);
		value_add(&f, 1, METRIC_WALL, 10 + i);
		value_add(&f, 2, METRIC_WALL, 20 + i);
	}
	summary_make(&f.summary, &f.results);
	assert_int_equal(verdict_of(&f, METRIC_WALL)->winner, 1);
	assert_true(figure_of(&f, METRIC_WALL, 1)->is_better);
	assert_true(figure_of(&f, METRIC_WALL, 2)->is_better);
	assert_false(figure_of(&f, METRIC_WALL, 2)->is_best);
}

static void test_summary_more_can_be_better(void **state)
{
	struct fixture f;

	fixture_init(&f, "system,b");
	for (int i = 0; i < 6; i++) {
		value_add(&f, 0, METRIC_BUILTIN, 30 + i);
		value_add(&f, 1, METRIC_BUILTIN, 10 + i);
	}
	summary_make(&f.summary, &f.results);
	assert_int_equal(verdict_of(&f, METRIC_BUILTIN)->winner, 0);
	assert_true(figure_of(&f, METRIC_BUILTIN, 1)->is_worse);
}

static void test_summary_tie_has_no_winner(void **state)
{
	struct fixture f;

	fixture_init(&f, "system,b,c");
	for (int i = 0; i < 6; i++) {
		value_add(&f, 0, METRIC_WALL, 10 + i);
		value_add(&f, 1, METRIC_WALL, 10.5 + i);
		value_add(&f, 2, METRIC_WALL, 30 + i);
	}
	summary_make(&f.summary, &f.results);
	assert_int_equal(verdict_of(&f, METRIC_WALL)->winner, -1);
	assert_true(figure_of(&f, METRIC_WALL, 0)->is_best);
	assert_true(figure_of(&f, METRIC_WALL, 1)->is_best);
	assert_false(figure_of(&f, METRIC_WALL, 2)->is_best);
}

static void test_summary_single_subject_has_no_winner(void **state)
{
	struct fixture f;

	fixture_init(&f, "system");
	value_add(&f, 0, METRIC_WALL, 1);
	summary_make(&f.summary, &f.results);
	assert_int_equal(verdict_of(&f, METRIC_WALL)->winner, -1);
}

static void test_summary_leaves_failed_runs_out(void **state)
{
	struct fixture f;
	struct cell *cell;

	fixture_init(&f, "system,b");
	for (int i = 0; i < 3; i++) {
		value_add(&f, 0, METRIC_WALL, 10);
		value_add(&f, 1, METRIC_WALL, i == 0 ? 1000 : 10);
	}
	cell = results_cell(&f.results, 0, 1);
	cell->runs[0].failure = tool_strdup("exit status 1");
	summary_make(&f.summary, &f.results);
	assert_int_equal(figure_of(&f, METRIC_WALL, 1)->count, 2);
	assert_true(figure_of(&f, METRIC_WALL, 1)->median == 10);
	assert_int_equal(cell_good(cell), 2);
}

static void test_summary_subject_without_figures_cannot_win(void **state)
{
	struct fixture f;

	fixture_init(&f, "system,b");
	for (int i = 0; i < 6; i++) {
		value_add(&f, 0, METRIC_WALL, 10 + i);
	}
	summary_make(&f.summary, &f.results);
	assert_int_equal(verdict_of(&f, METRIC_WALL)->winner, -1);
	assert_int_equal(verdict_of(&f, METRIC_WALL)->best, 0);
}

static void test_summary_least_runs_grow_with_subjects(void **state)
{
	struct fixture two;
	struct fixture many;

	fixture_init(&two, "system,b");
	fixture_init(&many, "system,b,c,d,e,f,g,h,i");
	/* 2/C(8,4) = 0.029, 8 * 2/C(12,6) = 0.017. */
	assert_int_equal(summary_least_runs(&two.plan), 4);
	assert_int_equal(summary_least_runs(&many.plan), 6);
}

/*
 * Times as they come: log-normal noise of 5 %, and now and then a run that was
 * disturbed. Subject 1 is `factor` times as slow as all others.
 */
static void trial(struct fixture *f, gsl_rng *random, double factor)
{
	fixture_init(f, "system,b,c,d,e,f,g,h");
	for (size_t s = 0; s < SUBJECTS; s++) {
		for (int i = 0; i < RUNS; i++) {
			double value = gsl_ran_lognormal(random, 0, 0.05);

			if (gsl_rng_uniform(random) < 0.05) {
				value *= 1.5;
			}
			value_add(f, s, METRIC_WALL,
				s == 1 ? value * factor : value);
		}
	}
	summary_make(&f->summary, &f->results);
}

static void test_summary_identical_subjects_are_rarely_told_apart(void **state)
{
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
	int alarms = 0;

	gsl_rng_set(random, 20);
	for (int t = 0; t < TRIALS; t++) {
		struct fixture f;
		bool any = false;

		trial(&f, random, 1);
		for (size_t s = 0; s < SUBJECTS; s++) {
			any |= figure_of(&f, METRIC_WALL, s)->is_better ||
			       figure_of(&f, METRIC_WALL, s)->is_worse;
		}
		alarms += any;
		assert_int_equal(verdict_of(&f, METRIC_WALL)->winner, -1);
	}
	/* 5 % of 400 are 20, give or take 4.4. */
	assert_in_range(alarms, 1, 20 + 9);
	gsl_rng_free(random);
}

static void test_summary_slowdown_of_a_fifth_is_found(void **state)
{
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
	int found = 0;

	gsl_rng_set(random, 21);
	for (int t = 0; t < TRIALS; t++) {
		struct fixture f;

		trial(&f, random, 1.2);
		found += figure_of(&f, METRIC_WALL, 1)->is_worse;
	}
	assert_in_range(found, TRIALS * 9 / 10, TRIALS);
	gsl_rng_free(random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary_has_median_and_ratio),
		cmocka_unit_test(test_summary_separate_samples_have_a_winner),
		cmocka_unit_test(test_summary_more_can_be_better),
		cmocka_unit_test(test_summary_tie_has_no_winner),
		cmocka_unit_test(test_summary_single_subject_has_no_winner),
		cmocka_unit_test(test_summary_leaves_failed_runs_out),
		cmocka_unit_test(
			test_summary_subject_without_figures_cannot_win),
		cmocka_unit_test(test_summary_least_runs_grow_with_subjects),
		cmocka_unit_test(
			test_summary_identical_subjects_are_rarely_told_apart),
		cmocka_unit_test(test_summary_slowdown_of_a_fifth_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
