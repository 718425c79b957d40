/* SPDX-License-Identifier: MIT */
/* test_log.c - formatting without stdio. */
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

static void test_log_formats_each_conversion(void **state)
{
	char buf[128];

	log_format(buf, sizeof(buf), "%s|%c|%d|%u|%x|%p|%%", "a", 'b', -7, 7u,
		255u, (void *)0x10);
	assert_string_equal(buf, "a|b|-7|7|ff|0x10|%");
}

static void test_log_formats_extreme_numbers(void **state)
{
	char buf[128];

	log_format(buf, sizeof(buf), "%ld %lu %zu", LONG_MIN, ULONG_MAX,
		(size_t)0);
	assert_string_equal(buf, "-9223372036854775808 18446744073709551615 0");
}

static void test_log_cuts_what_does_not_fit(void **state)
{
	char buf[4];

	assert_int_equal(log_format(buf, sizeof(buf), "%s", "abcdef"), 3);
	assert_string_equal(buf, "abc");
}

static void test_log_survives_null_string_and_lone_percent(void **state)
{
	char buf[32];
	const char *volatile nothing = NULL;
	const char *volatile lone = "%s %";

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
	log_format(buf, sizeof(buf), lone, nothing);
#pragma GCC diagnostic pop
	assert_string_equal(buf, "(null) ");
}

static void test_log_line_is_one_prefixed_line_and_keeps_errno(void **state)
{
	char buf[2048];
	char longer[1500];
	int pipes[2], saved = dup(2);
	ssize_t len;

	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(pipe(pipes), 0);
	dup2(pipes[1], 2);
	errno = 1234;
	log_line("%s", longer);
	int kept = errno;
	dup2(saved, 2);
	close(saved);
	close(pipes[1]);
	len = read(pipes[0], buf, sizeof(buf));
	close(pipes[0]);
	assert_int_equal(kept, 1234);
	assert_int_equal(len, 1024);
	assert_memory_equal(buf, "allocmux: xxx", 13);
	assert_int_equal(buf[len - 1], '\n');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log_formats_each_conversion),
		cmocka_unit_test(test_log_formats_extreme_numbers),
		cmocka_unit_test(test_log_cuts_what_does_not_fit),
		cmocka_unit_test(
			test_log_survives_null_string_and_lone_percent),
		cmocka_unit_test(
			test_log_line_is_one_prefixed_line_and_keeps_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
