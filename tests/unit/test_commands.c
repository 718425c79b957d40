/* SPDX-License-Identifier: MIT */
/* test_commands.c - the grammar of the control channel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include <allocmux/control.h>

#include "commands.h"

static char answer[8192];
static size_t answer_len;

static void collect(void *arg, const char *line, size_t len)
{
	assert_int_equal(line[len - 1], '\n');
	assert_true(answer_len + len < sizeof(answer));
	memcpy(answer + answer_len, line, len);
	answer_len += len;
	answer[answer_len] = '\0';
}

static const char *ask(const char *text)
{
	struct reply reply = {.write = collect};
	char line[2 * AMUX_CONTROL_LINE];
	size_t len = strlen(text);

	memcpy(line, text, len + 1);
	answer_len = 0;
	request_run(line, len, &reply);
	return answer;
}

static bool parses(const char *bytes, size_t len)
{
	struct request request;
	char *line = malloc(len ? len : 1); /* exact, for asan */
	bool parsed;

	memcpy(line, bytes, len);
	parsed = request_parse(line, len, &request);
	free(line);
	return parsed;
}

static void test_request_splits_at_first_space(void **state)
{
	char line[] = "switch /a path/lib.so\n";
	struct request request;

	assert_true(request_parse(line, sizeof(line) - 1, &request));
	assert_string_equal(request.command, "switch");
	assert_string_equal(request.argument, "/a path/lib.so");
}

static void test_request_without_argument_has_an_empty_one(void **state)
{
	char line[] = "ping\n";
	struct request request;

	assert_true(request_parse(line, sizeof(line) - 1, &request));
	assert_string_equal(request.argument, "");
}

static void test_request_that_is_no_line_is_refused(void **state)
{
	assert_false(parses("", 0));
	assert_false(parses("\n", 1));
	assert_false(parses("ping", 4));
	assert_false(parses(" ping\n", 6));
	assert_false(parses("pi\0g\n", 5));
	assert_false(parses("pi\tg\n", 5));
	assert_false(parses("ping\nping\n", 10));
}

static void test_unknown_command_says_so(void **state)
{
	char expected[80];

	snprintf(expected, sizeof(expected),
		"error %d no such command in this version\n", ENOSYS);
	assert_string_equal(ask("nosuch thing\n"), expected);
}

static void test_switch_needs_a_name(void **state)
{
	assert_non_null(strstr(ask("switch\n"), "needs an argument"));
	assert_non_null(strstr(ask("switch \n"), "needs an argument"));
}

static void test_ping_tells_protocol_and_version(void **state)
{
	assert_non_null(strstr(ask("ping\n"), "allocmux protocol=1 "));
	assert_non_null(strstr(answer, "\nok\n"));
}

static void test_failed_switch_gives_the_reason_and_changes_nothing(
	void **state)
{
	assert_string_equal(ask("switch system\n"), "active name=system\nok\n");
	assert_non_null(strstr(ask("switch nosuch\n"), "why text="));
	assert_non_null(strstr(answer, "\"nosuch\""));
	assert_non_null(strstr(answer, "\nerror "));
	assert_non_null(strstr(ask("status\n"), "owner id=0 active=1 "));
}

static void test_switch_moves_the_active_mark(void **state)
{
	assert_string_equal(ask("switch dl\n"), "active name=dl\nok\n");
	assert_non_null(strstr(ask("status\n"), "owner id=0 active=0 "));
	assert_string_equal(ask("switch system\n"), "active name=system\nok\n");
	assert_non_null(strstr(ask("status\n"), "owner id=0 active=1 "));
}

static void test_reply_line_has_no_control_characters(void **state)
{
	struct reply reply = {.write = collect};

	answer_len = 0;
	reply_line(&reply, "origin path=%s", "/a\nb\tc");
	assert_string_equal(answer, "origin path=/a?b?c\n");
}

static void test_reply_line_is_cut_at_its_limit(void **state)
{
	struct reply reply = {.write = collect};
	char text[2 * AMUX_CONTROL_LINE];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	answer_len = 0;
	reply_line(&reply, "%s", text);
	assert_int_equal(answer_len, AMUX_CONTROL_LINE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_splits_at_first_space),
		cmocka_unit_test(
			test_request_without_argument_has_an_empty_one),
		cmocka_unit_test(test_request_that_is_no_line_is_refused),
		cmocka_unit_test(test_unknown_command_says_so),
		cmocka_unit_test(test_switch_needs_a_name),
		cmocka_unit_test(test_ping_tells_protocol_and_version),
		cmocka_unit_test(
			test_failed_switch_gives_the_reason_and_changes_nothing),
		cmocka_unit_test(test_switch_moves_the_active_mark),
		cmocka_unit_test(test_reply_line_has_no_control_characters),
		cmocka_unit_test(test_reply_line_is_cut_at_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
