/* SPDX-License-Identifier: MIT */
/* test_config.c - the option table and the environment. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <allocmux/allocmux.h>

#include "config.h"

static void test_config_reads_and_keeps_values(void **state)
{
	char value[] = "ALLOC_BACKEND=percpu";

	clearenv();
	putenv(value);
	config_load();
	memset(value, 'x', sizeof(value) - 1); /* as setproctitle does */
	assert_string_equal(config_string(OPTION_BACKEND), "percpu");
	assert_true(config_is_set(OPTION_BACKEND));
	assert_false(config_is_set(OPTION_STRICT));
	clearenv();
}

static void test_config_refuses_what_is_not_in_the_list(void **state)
{
	char line[256] = "";
	int pipes[2], saved = dup(2);

	clearenv();
	setenv("ALLOC_STRICT", "maybe", 1);
	assert_int_equal(pipe(pipes), 0);
	dup2(pipes[1], 2);
	config_load();
	dup2(saved, 2);
	close(saved);
	close(pipes[1]);
	assert_true(read(pipes[0], line, sizeof(line) - 1) > 0);
	close(pipes[0]);
	assert_non_null(strstr(line, "ALLOC_STRICT=maybe"));
	assert_non_null(strstr(line, "0|1"));
	assert_false(config_bool(OPTION_STRICT));
	clearenv();
}

static void test_config_lives_without_environment(void **state)
{
	char **saved = environ;

	environ = NULL;
	config_load();
	environ = saved;
	assert_false(config_bool(OPTION_VERBOSE));
}

static void test_config_keeps_values_longer_than_its_pool(void **state)
{
	char value[8192];

	memset(value, 'p', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	clearenv();
	setenv("ALLOC_PLUGIN_PATH", value, 1);
	config_load();
	assert_string_equal(config_string(OPTION_PLUGIN_PATH), value);
	clearenv();
}

static void test_config_finds_a_backends_option_in_any_case(void **state)
{
	clearenv();
	setenv("ALLOC_BAD_FREE", "warn", 1);
	config_load();
	assert_string_equal(config_backend_option("bad", "free"), "warn");
	assert_null(config_backend_option("bad", "fre"));
	assert_null(config_backend_option("no", "such"));
	clearenv();
}

static void test_config_describes_every_option(void **state)
{
	const struct amux_option *option;
	size_t count = 0;

	for (; (option = amux_option_at(count)); count++) {
		assert_int_equal(strncmp(option->variable, "ALLOC_", 6), 0);
		assert_true(strlen(option->type) > 0);
		assert_true(strlen(option->help) > 20);
	}
	assert_true(count >= OPTION_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config_reads_and_keeps_values),
		cmocka_unit_test(test_config_refuses_what_is_not_in_the_list),
		cmocka_unit_test(test_config_lives_without_environment),
		cmocka_unit_test(test_config_keeps_values_longer_than_its_pool),
		cmocka_unit_test(
			test_config_finds_a_backends_option_in_any_case),
		cmocka_unit_test(test_config_describes_every_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
