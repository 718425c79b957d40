/* SPDX-License-Identifier: MIT */
/*
 * run.c - `allocmux run`: execute a program under a backend.
 *
 * The program takes this process's place, so its exit status and its signals
 * are its own.
 */
#include <getopt.h>
#include <stdlib.h>

#include "launch.h"
#include "tool.h"

/* As env(1): failures of our own, apart from the program's. */
enum { EXIT_OWN_FAILURE = 125 };

static const struct tool_option run_options[] = {
	{"backend", 'b', "NAME",
		"Run under this backend: a name that `allocmux list' shows, or "
		"the path of a library with a malloc in it",
		VALUE_BACKEND},
	{"verbose", 'v', NULL,
		"Let the shim say at start what was chosen and from where",
		VALUE_ANY},
	{0},
};

static int run_main(int argc, char **argv);

const struct command command_run = {
	.name = "run",
	.usage = "[--backend NAME] [--verbose] [--] COMMAND [ARGUMENT]...",
	.summary = "Run a program under a backend",
	.text = "Executes COMMAND with the preload library in front of it. The "
		"exit status is COMMAND's; 127 if there is no such command, "
		"126 if it cannot be executed, 125 if allocmux itself failed, "
		"as in env(1).\n\n"
		"A backend that cannot be used is the shim's business: it says "
		"so in one line and goes on with `system', or ends the program "
		"with status 127 if ALLOC_STRICT=1 is set.",
	.options = run_options,
	.main = run_main,
};

static int run_main(int argc, char **argv)
{
	const char *backend = NULL;
	const char *value;
	bool verbose = false;
	int key;

	while ((key = option_next(&command_run, argc, argv, &value)) > 0) {
		if (key == 'b') {
			backend = value;
		} else {
			verbose = true;
		}
	}
	if (key < 0) {
		return EXIT_OWN_FAILURE;
	}
	if (optind == argc) {
		tool_usage("no command to run");
		return EXIT_OWN_FAILURE;
	}
	if (launch_setenv(backend) != 0) {
		return EXIT_OWN_FAILURE;
	}
	if (verbose && setenv("ALLOC_VERBOSE", "1", 1) != 0) {
		tool_perror("setenv");
		return EXIT_OWN_FAILURE;
	}
	launch_warn(argv[optind]);
	launch_exec(argv + optind);
}
