/* SPDX-License-Identifier: MIT */
/* test_plan.c - option values of compare become a plan, or are refused. */
#include "unit.h"

#include <stdlib.h>

#include "plan.h"
#include "substitute.h"

static void test_plan_names_subjects_after_backends(void **state)
{
	struct plan plan;

	plan_init(&plan);
	assert_int_equal(plan_add_subjects(&plan, "system,none,x=dl"), 0);
	assert_int_equal(plan.subject_count, 3);
	assert_string_equal(plan.subjects[0].label, "system");
	assert_int_equal(plan.subjects[1].kind, SUBJECT_NONE);
	assert_string_equal(plan.subjects[2].label, "x");
	assert_string_equal(plan.subjects[2].backend, "dl");
}

static void test_plan_names_a_library_after_its_file(void **state)
{
	struct plan plan;

	plan_init(&plan);
	assert_int_equal(
		plan_add_subjects(&plan, "preload:" AMUX_TEST_LIBRARY), 0);
	assert_int_equal(plan.subjects[0].kind, SUBJECT_PRELOAD);
	assert_string_equal(plan.subjects[0].label, "fakeshim");
	assert_string_equal(plan.subjects[0].backend, AMUX_TEST_LIBRARY);
}

static void test_plan_refuses_two_subjects_of_one_name(void **state)
{
	struct plan plan;

	plan_init(&plan);
	assert_int_equal(plan_add_subjects(&plan, "dl,dl"), -1);
}

static void test_plan_refuses_an_empty_subject(void **state)
{
	struct plan plan;

	plan_init(&plan);
	assert_int_equal(plan_add_subjects(&plan, "dl,,x"), -1);
}

static void test_plan_refuses_a_library_that_is_not_there(void **state)
{
	struct plan plan;

	plan_init(&plan);
	assert_int_equal(plan_add_subjects(&plan, "/nonexistent/lib.so"), -1);
}

static void test_plan_metric_has_a_direction(void **state)
{
	struct plan plan;

	plan_init(&plan);
	assert_int_equal(plan_add_metric(&plan, "tps:max=tps: ([0-9]+)"), 0);
	assert_int_equal(plan_add_metric(&plan, "lat:min=a=([0-9]+)"), 0);
	assert_int_equal(plan_add_metric(&plan, "x=([0-9]+)"), 0);
	assert_true(plan.metrics[METRIC_BUILTIN].more_is_better);
	assert_false(plan.metrics[METRIC_BUILTIN + 1].more_is_better);
	assert_false(plan.metrics[METRIC_BUILTIN + 2].more_is_better);
}

static void test_plan_refuses_bad_metrics(void **state)
{
	static const char *const bad[] = {
		"tps", "=x", "a b=x", "tps:most=x", "tps=(", "wall=x"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct plan plan;

		plan_init(&plan);
		assert_int_equal(plan_add_metric(&plan, bad[i]), -1);
	}
}

static void test_plan_sweep_replaces_the_single_point(void **state)
{
	struct plan plan;

	plan_init(&plan);
	assert_int_equal(plan.point_count, 1);
	assert_int_equal(plan_set_sweep(&plan, "threads=1,2,many"), 0);
	assert_int_equal(plan.point_count, 3);
	assert_string_equal(plan.points[2], "many");
}

static void test_plan_refuses_bad_sweeps(void **state)
{
	static const char *const bad[] = {"threads", "=1,2", "threads=1,,2"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct plan plan;

		plan_init(&plan);
		assert_int_equal(plan_set_sweep(&plan, bad[i]), -1);
	}
}

static void test_plan_refuses_an_unknown_readiness(void **state)
{
	struct plan plan;

	plan_init(&plan);
	assert_int_equal(plan_set_ready(&plan, "port=80"), 0);
	assert_int_equal(plan_set_ready(&plan, "port="), -1);
	assert_int_equal(plan_set_ready(&plan, "soon"), -1);
}

static void test_plan_shows_what_is_listed(void **state)
{
	struct plan plan;

	plan_init(&plan);
	assert_int_equal(plan_set_shown(&plan, "peak_rss"), 0);
	assert_true(plan.metrics[METRIC_PEAK_RSS].is_shown);
	assert_false(plan.metrics[METRIC_WALL].is_shown);
	assert_int_equal(plan_set_shown(&plan, "nosuch"), -1);
}

static void assert_becomes(
	const struct place *place, const char *text, const char *expected)
{
	char *result = substitute(place, text);

	assert_string_equal(result, expected);
	free(result);
}

static void test_substitute_replaces_known_names_only(void **state)
{
	struct plan plan;
	struct place place = {.plan = &plan, .point = 1, .run = 7, .pid = 42};

	plan_init(&plan);
	plan_add_subjects(&plan, "system");
	plan_set_sweep(&plan, "n=10,20");
	assert_becomes(&place, "{backend}-{run}-{n}-{pid}", "system-7-20-42");
	assert_becomes(&place, "awk '{print $1}' {m} {} {n",
		"awk '{print $1}' {m} {} {n");
	assert_becomes(&place, "{{n}}", "{20}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan_names_subjects_after_backends),
		cmocka_unit_test(test_plan_names_a_library_after_its_file),
		cmocka_unit_test(test_plan_refuses_two_subjects_of_one_name),
		cmocka_unit_test(test_plan_refuses_an_empty_subject),
		cmocka_unit_test(test_plan_refuses_a_library_that_is_not_there),
		cmocka_unit_test(test_plan_metric_has_a_direction),
		cmocka_unit_test(test_plan_refuses_bad_metrics),
		cmocka_unit_test(test_plan_sweep_replaces_the_single_point),
		cmocka_unit_test(test_plan_refuses_bad_sweeps),
		cmocka_unit_test(test_plan_refuses_an_unknown_readiness),
		cmocka_unit_test(test_plan_shows_what_is_listed),
		cmocka_unit_test(test_substitute_replaces_known_names_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
