/* SPDX-License-Identifier: MIT */
/*
 * server.c - a server under a backend, and a load that drives it.
 *
 * The figures are those of the server and its descendants while the load runs:
 * CPU time and faults from /proc, before and after; wall time is the load's.
 * Context switches of threads that have ended are in no file, so there are no
 * figures of them. The server is not traced.
 */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proctree.h"
#include "tool.h"

/* Memory is read this often, but for no more than this part of the time. */
#define SAMPLE_SECONDS  0.05
#define SAMPLE_LOAD_MAX 0.05

#define READY_POLL_SECONDS 0.02
#define STOP_SECONDS       30.0

struct server {
	const struct plan *plan;
	const struct place *place;
	struct capture capture;
	struct start start;
	bool ended;
	int status; /* if it has ended */
};

static void wait_seconds(double seconds)
{
	struct timespec pause;

	pause.tv_sec = (time_t)seconds;
	pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
	nanosleep(&pause, NULL);
}

/* Has it ended? Reaps it, once. */
static bool server_has_ended(struct server *server)
{
	if (!server->ended && waitpid(server->start.pid, &server->status,
				      WNOHANG) == server->start.pid) {
		server->ended = true;
	}
	return server->ended;
}

static bool port_answers(const char *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool answers;

	if (fd < 0) {
		return false;
	}
	address.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	answers =
		connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	close(fd);
	return answers;
}

static bool file_has_line(int fd, const regex_t *regex)
{
	char *text = capture_read(fd, NULL);
	bool found = regexec(regex, text, 0, NULL, 0) == 0;

	free(text);
	return found;
}

static bool line_was_written(const struct server *server, const char *pattern)
{
	regex_t regex;
	bool found;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE | REG_NOSUB)) {
		return false; /* checked when the plan was made */
	}
	found = file_has_line(server->capture.out, &regex) ||
		file_has_line(server->capture.err, &regex);
	regfree(&regex);
	return found;
}

static bool command_succeeds(const char *command, double timeout)
{
	char *failure;
	bool done = shell_run(command, timeout, "ready", &failure) == 0;

	free(failure);
	return done;
}

static bool server_is_ready(const struct server *server, const char *value)
{
	double timeout = server->plan->ready_timeout;

	switch (server->plan->ready) {
	case READY_PORT:
		return port_answers(value);
	case READY_LINE:
		return line_was_written(server, value);
	case READY_COMMAND:
		return command_succeeds(value, timeout);
	case READY_NONE:
		break;
	}
	return true;
}

static char *ended_early(const struct server *server, const char *when)
{
	char *reason = failure_of_status(server->status, &server->capture);
	char *failure = tool_format("the server ended %s: %s", when,
		reason != NULL ? reason : "exit status 0");

	free(reason);
	return failure;
}

/* NULL when it is ready, otherwise the failure. */
static char *server_wait_ready(struct server *server)
{
	double timeout = server->plan->ready_timeout;
	double end = clock_seconds() + timeout;
	char *value =
		server->plan->ready_value != NULL
			? substitute(server->place, server->plan->ready_value)
			: NULL;
	char *failure = NULL;

	while (failure == NULL && !server_is_ready(server, value)) {
		if (server_has_ended(server)) {
			failure = ended_early(server, "before it was ready");
		} else if (clock_seconds() > end) {
			failure = tool_format(
				"the server was not ready after %g s", timeout);
		} else {
			wait_seconds(READY_POLL_SECONDS);
		}
	}
	if (failure == NULL && server_has_ended(server)) {
		failure = ended_early(server, "before the load");
	}
	free(value);
	return failure;
}

/* Start it; NULL, or the failure. */
static char *server_start(struct server *server, const struct subject *subject)
{
	char *text = substitute(server->place, server->plan->server);
	char *argv[] = {"sh", "-c", text, NULL};
	int error;

	if (start_prepare(&server->start, subject, argv, &server->capture) !=
		0) {
		exit(TOOL_BROKEN);
	}
	error = start_release(&server->start);
	free(text);
	return error == 0 ? NULL
			  : tool_format("cannot start the server: %s",
				    strerror(error));
}

static bool group_is_empty(pid_t group)
{
	return kill(-group, 0) != 0 && errno == ESRCH;
}

/*
 * Stop it: the signal to its first process, then, if this was a shell that left
 * others behind, to the rest. NULL, or the failure.
 */
static char *server_stop(struct server *server)
{
	double end = clock_seconds() + STOP_SECONDS;
	int signal = server->plan->stop_signal;

	if (!server_has_ended(server)) {
		kill(server->start.pid, signal);
	}
	while (!server_has_ended(server) && clock_seconds() < end) {
		wait_seconds(READY_POLL_SECONDS);
	}
	if (!server->ended) {
		kill(-server->start.pid, SIGKILL);
		return tool_format("the server did not stop within %g s of "
				   "SIG%s",
			STOP_SECONDS, sigabbrev_np(signal));
	}
	if (!group_is_empty(server->start.pid)) {
		kill(-server->start.pid, signal);
	}
	while (!group_is_empty(server->start.pid) && clock_seconds() < end) {
		while (waitpid(-server->start.pid, NULL, WNOHANG) > 0) {
		}
		wait_seconds(READY_POLL_SECONDS);
	}
	if (WIFSIGNALED(server->status) && WTERMSIG(server->status) == signal) {
		return NULL;
	}
	if (WIFEXITED(server->status) &&
		WEXITSTATUS(server->status) == 128 + signal) {
		return NULL; /* a shell reporting the same */
	}
	if (WIFEXITED(server->status) && WEXITSTATUS(server->status) == 0) {
		return NULL;
	}
	return ended_early(server, "when it was stopped");
}

static double sample_take(
	const struct server *server, struct run *run, double begin)
{
	double before = clock_seconds();
	struct sample sample = {
		before - begin, tree_rss(server->start.pid, NULL), 0};

	run->samples = tool_realloc(
		run->samples, (run->sample_count + 1) * sizeof(*run->samples));
	run->samples[run->sample_count++] = sample;
	return clock_seconds() - before;
}

/* Wait for the load while sampling; returns its wait status. */
static int load_watch(
	const struct server *server, pid_t load, struct run *run, double begin)
{
	sigset_t child;
	int status;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (true) {
		double cost = sample_take(server, run, begin);
		double pause = cost / SAMPLE_LOAD_MAX;
		struct timespec timeout = {0};

		pause = pause > SAMPLE_SECONDS ? pause : SAMPLE_SECONDS;
		timeout.tv_sec = (time_t)pause;
		timeout.tv_nsec =
			(long)((pause - (double)timeout.tv_sec) * 1e9);
		if (waitpid(load, &status, WNOHANG) == load) {
			return status;
		}
		/* Blocked since before the load began: none is missed. */
		sigtimedwait(&child, NULL, &timeout);
		if (waitpid(load, &status, WNOHANG) == load) {
			return status;
		}
	}
}

static void values_fill(const struct server *server, struct run *run,
	const struct tree_usage *before, const struct tree_usage *after)
{
	size_t processes;
	double peak;

	run->values[METRIC_USER] = after->user_seconds - before->user_seconds;
	run->values[METRIC_SYSTEM] =
		after->system_seconds - before->system_seconds;
	run->values[METRIC_MINOR_FAULTS] =
		after->minor_faults - before->minor_faults;
	run->values[METRIC_MAJOR_FAULTS] =
		after->major_faults - before->major_faults;
	peak = tree_rss(server->start.pid, &processes);
	run->values[METRIC_END_RSS] = peak;
	for (size_t i = 0; i < run->sample_count; i++) {
		if (run->samples[i].rss > peak) {
			peak = run->samples[i].rss;
		}
	}
	if (processes == 1) {
		peak = process_memory(server->start.pid, "VmHWM");
	}
	run->values[METRIC_PEAK_RSS] = peak;
}

static void load_run(
	struct server *server, const struct capture *capture, struct run *run)
{
	const struct plan *plan = server->plan;
	char *text = substitute(server->place, plan->load);
	char *argv[] = {"sh", "-c", text, NULL};
	struct tree_usage before = tree_usage(server->start.pid);
	struct tree_usage after;
	struct start start;
	sigset_t child;
	double begin;
	int status;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	if (start_prepare(&start, NULL, argv, capture) != 0) {
		exit(TOOL_BROKEN);
	}
	limit_begin(start.pid, plan->timeout);
	begin = clock_seconds();
	start_release(&start);
	status = load_watch(server, start.pid, run, begin);
	run->values[METRIC_WALL] = clock_seconds() - begin;
	sigprocmask(SIG_UNBLOCK, &child, NULL);
	after = tree_usage(server->start.pid);
	values_fill(server, run, &before, &after);
	free(text);
	start_forget(&start);
	if (limit_end()) {
		run->failure = tool_format(
			"the load timed out after %g s", plan->timeout);
	} else {
		char *reason = failure_of_status(status, capture);

		if (reason != NULL) {
			run->failure = tool_format("load: %s", reason);
		}
		free(reason);
	}
	if (server_has_ended(server)) {
		free(run->failure);
		run->failure = ended_early(server, "during the load");
	}
}

void measure_server(
	const struct place *place, const struct capture *load, struct run *run)
{
	const struct subject *subject = &place->plan->subjects[place->subject];
	const char *library = subject_library(subject);
	struct server server = {.plan = place->plan};
	struct pids before = tree_list(getpid());
	struct place with_pid = *place;
	char *failure;

	if (capture_open(&server.capture) != 0) {
		exit(TOOL_BROKEN);
	}
	server.place = &with_pid;
	run->failure = server_start(&server, subject);
	with_pid.pid = server.start.pid;
	if (run->failure == NULL) {
		run->failure = server_wait_ready(&server);
	}
	if (run->failure == NULL && library != NULL &&
		!tree_maps_file(server.start.pid, library)) {
		run->failure = tool_format("%s was not loaded: is the server "
					   "static or privileged?",
			library);
	}
	if (run->failure == NULL) {
		load_run(&server, load, run);
	}
	failure = server_stop(&server);
	start_forget(&server.start);
	if (run->failure == NULL) {
		run->failure = failure;
	} else {
		free(failure);
	}
	capture_close(&server.capture);
	tree_end_others(&before);
	free(before.list);
}
