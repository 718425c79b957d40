/* SPDX-License-Identifier: MIT */
/*
 * tracecmd.c - `allocmux trace`: run a program and keep its trace.
 *
 * The program writes raw files into a folder of ours; we compress them while
 * it runs (drain.c), one packed file per process and executed image, and show
 * the first one's summary at the end.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drain.h"
#include "launch.h"
#include "tool.h"

extern const struct command command_report;

/* As env(1): failures of our own, apart from the program's. */
enum { EXIT_OWN_FAILURE = 125 };

/* How long the raw files are left alone, ns: 20 ms. */
#define PAUSE_NS 20000000

#define SUFFIX ".trace.zst"

/* One raw file and what becomes of it. */
struct job {
	char *name; /* in the folder; NULL ends in the list */
	char *packed;
	struct drain *drain; /* NULL: not begun, or done */
	bool done;
};

static struct {
	char folder[64];
	const char *output;
	pid_t child;
	struct job *jobs;
	size_t count;
	bool failed;
	volatile sig_atomic_t signal; /* to be passed on */
} g;

static const struct tool_option trace_options[] = {
	{"mode", 'm', "MODE",
		"What is recorded: `record', every event; `profile', counters "
		"per call site; `sample', a sample by bytes. Default: record",
		VALUE_ANY},
	{"output", 'o', "FILE",
		"Where the trace goes; other processes that the program starts "
		"get a number of their own before the suffix. Default: "
		"allocmux-PID" SUFFIX,
		VALUE_FILE},
	{"backend", 'b', "NAME",
		"Run under this backend, as with `allocmux run'",
		VALUE_BACKEND},
	{"quiet", 'q', NULL, "Do not print the summary at the end", VALUE_ANY},
	{0},
};

static int trace_main(int argc, char **argv);

const struct command command_trace = {
	.name = "trace",
	.usage = "[--mode MODE] [--output FILE] [--] COMMAND [ARGUMENT]...",
	.summary = "Run a program and record its allocations",
	.text = "Runs COMMAND with the preload library in front of it and "
		"writes a compressed trace of it and of each process that it "
		"starts, while they run. When COMMAND has ended, its summary "
		"is printed; `allocmux report' shows more.\n\n"
		"The variables ALLOC_TRACE_DELAY, ALLOC_TRACE_DURATION, "
		"ALLOC_TRACE_LIVE and ALLOC_SAMPLE_BYTES say when and how "
		"finely; see `allocmux options'.\n\n"
		"The exit status is COMMAND's; 127 if there is no such "
		"command, 126 if it cannot be executed, 125 if allocmux itself "
		"failed.",
	.options = trace_options,
	.main = trace_main,
};

/* ---- the raw folder ---- */

/* In memory if there is such a place: raw files live for a moment. */
static bool make_folder(void)
{
	const char *parent = getenv("TMPDIR");

	if (access("/dev/shm", W_OK) == 0) {
		parent = "/dev/shm";
	} else if (parent == NULL || strlen(parent) > 32) {
		parent = "/tmp";
	}
	snprintf(g.folder, sizeof(g.folder), "%s/allocmux-XXXXXX", parent);
	if (mkdtemp(g.folder) == NULL) {
		tool_perror("cannot create a folder in %s", parent);
		return false;
	}
	return true;
}

/*
 * "PID.IMAGE.trace" becomes the output file for the program itself, and the
 * same name with the numbers in it for all others.
 */
static char *packed_name(const char *raw)
{
	size_t length = strlen(g.output);
	size_t suffix = strlen(SUFFIX);
	char *end;
	long pid = strtol(raw, &end, 10);
	long image = *end == '.' ? strtol(end + 1, NULL, 10) : 0;

	if (pid == (long)g.child && image == 0) {
		return tool_strdup(g.output);
	}
	if (length > suffix &&
		strcmp(g.output + length - suffix, SUFFIX) == 0) {
		length -= suffix;
	}
	return tool_format(
		"%.*s-%ld.%ld" SUFFIX, (int)length, g.output, pid, image);
}

static struct job *job_named(const char *name)
{
	for (size_t i = 0; i < g.count; i++) {
		if (strcmp(g.jobs[i].name, name) == 0) {
			return &g.jobs[i];
		}
	}
	g.jobs = tool_realloc(g.jobs, (g.count + 1) * sizeof(g.jobs[0]));
	g.jobs[g.count] = (struct job){
		.name = tool_strdup(name),
		.packed = packed_name(name),
	};
	return &g.jobs[g.count++];
}

static void find_files(void)
{
	DIR *dir = opendir(g.folder);
	struct dirent *entry;

	if (dir == NULL) {
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		struct job *job;
		char *path;

		if (entry->d_name[0] == '.') {
			continue;
		}
		job = job_named(entry->d_name);
		if (job->drain != NULL || job->done) {
			continue;
		}
		path = tool_format("%s/%s", g.folder, entry->d_name);
		job->drain = drain_create(path, job->packed, &job->done);
		g.failed |= job->done;
		free(path);
	}
	closedir(dir);
}

static void work(bool last)
{
	find_files();
	for (size_t i = 0; i < g.count; i++) {
		struct job *job = &g.jobs[i];

		if (job->drain == NULL) {
			continue;
		}
		drain_poll(job->drain);
		if (last || drain_is_over(job->drain)) {
			g.failed |= !drain_destroy(job->drain);
			job->drain = NULL;
			job->done = true;
		}
	}
}

/* ---- the program ---- */

static void pass_on(int number)
{
	g.signal = number;
}

static void set_signals(void)
{
	struct sigaction action = {.sa_handler = SIG_IGN};

	/* From the terminal: the program has them, too, and decides. */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGQUIT, &action, NULL);
	action.sa_handler = pass_on;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static bool set_environment(const char *mode, const char *backend)
{
	char *pattern = tool_format("%s/%%p.%%n.trace", g.folder);
	bool set = setenv("ALLOC_TRACE", mode, 1) == 0 &&
		   setenv("ALLOC_TRACE_FILE", pattern, 1) == 0;

	free(pattern);
	if (!set) {
		tool_perror("setenv");
	}
	return set && launch_setenv(backend) == 0;
}

static int wait_and_work(void)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	int status;

	for (;;) {
		pid_t pid = waitpid(g.child, &status, WNOHANG);

		if (pid == g.child) {
			break;
		}
		if (g.signal) {
			kill(g.child, g.signal);
			g.signal = 0;
		}
		work(false);
		nanosleep(&pause, NULL);
	}
	work(true);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

static void clean_up(void)
{
	if (rmdir(g.folder) != 0 && errno == ENOTEMPTY) {
		tool_error("raw traces that could not be packed are kept in %s",
			g.folder);
	}
	for (size_t i = 0; i < g.count; i++) {
		free(g.jobs[i].name);
		free(g.jobs[i].packed);
	}
	free(g.jobs);
	g.jobs = NULL;
}

static void show_summary(void)
{
	char *arguments[] = {"report", (char *)g.output, NULL};

	if (access(g.output, R_OK) != 0) {
		tool_error("the program left no trace: malloc in it cannot be "
			   "replaced, or it allocated nothing");
		return;
	}
	fflush(stdout);
	optind = 0;
	tool_set_command("report");
	command_report.main(2, arguments);
	fprintf(stderr, "trace: %s (%zu file%s)\n", g.output, g.count,
		g.count == 1 ? "" : "s");
}

static int run(char **argv, const char *mode, const char *backend, bool quiet)
{
	char *named = NULL;
	int status;

	if (!make_folder() || !set_environment(mode, backend)) {
		return EXIT_OWN_FAILURE;
	}
	launch_warn(argv[0]);
	g.child = fork();
	if (g.child < 0) {
		tool_perror("fork");
		rmdir(g.folder);
		return EXIT_OWN_FAILURE;
	}
	if (g.child == 0) {
		launch_exec(argv);
	}
	set_signals();
	if (g.output == NULL) {
		named = tool_format("allocmux-%d" SUFFIX, (int)g.child);
		g.output = named;
	}
	status = wait_and_work();
	clean_up();
	if (!quiet) {
		show_summary();
	}
	free(named);
	return g.failed && status == 0 ? EXIT_OWN_FAILURE : status;
}

static int trace_main(int argc, char **argv)
{
	const char *mode = "record";
	const char *backend = NULL;
	const char *value;
	bool quiet = false;
	int key;

	while ((key = option_next(&command_trace, argc, argv, &value)) > 0) {
		switch (key) {
		case 'm':
			mode = value;
			break;
		case 'o':
			g.output = value;
			break;
		case 'b':
			backend = value;
			break;
		default:
			quiet = true;
		}
	}
	if (key < 0) {
		return EXIT_OWN_FAILURE;
	}
	if (strcmp(mode, "record") != 0 && strcmp(mode, "profile") != 0 &&
		strcmp(mode, "sample") != 0) {
		tool_usage("there is no mode `%s': it is record, profile or "
			   "sample",
			mode);
		return EXIT_OWN_FAILURE;
	}
	if (optind == argc) {
		tool_usage("no command to run");
		return EXIT_OWN_FAILURE;
	}
	return run(argv + optind, mode, backend, quiet);
}
