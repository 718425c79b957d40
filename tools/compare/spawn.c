/* SPDX-License-Identifier: MIT */
/*
 * spawn.c - start commands and take their output.
 *
 * Each command is a process group, so that it can be killed whole. The signal
 * handlers only kill groups; the two arrays of them are filled before a command
 * begins and emptied after it was waited for.
 */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch.h"
#include "plan.h"
#include "tool.h"

/* A server, its load, and a command that one of them needs. */
enum { GROUPS_MAX = 4 };

static struct {
	volatile pid_t groups[GROUPS_MAX]; /* to be killed with us; 0: free */
	volatile pid_t limited;            /* to be killed by the timer, or 0 */
	volatile sig_atomic_t timed_out;
} g;

static void on_alarm(int signal)
{
	(void)signal;
	g.timed_out = 1;
	if (g.limited > 0) {
		kill(-g.limited, SIGKILL);
	}
}

/* Whatever runs must not outlive us. */
static void on_end(int number)
{
	for (int i = 0; i < GROUPS_MAX; i++) {
		if (g.groups[i] > 0) {
			kill(-g.groups[i], SIGKILL);
		}
	}
	signal(number, SIG_DFL);
	raise(number);
}

static void group_add(pid_t group)
{
	const struct sigaction action = {.sa_handler = on_end};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	for (int i = 0; i < GROUPS_MAX; i++) {
		if (g.groups[i] == 0) {
			g.groups[i] = group;
			return;
		}
	}
}

void start_forget(const struct start *start)
{
	for (int i = 0; i < GROUPS_MAX; i++) {
		if (g.groups[i] == start->pid) {
			g.groups[i] = 0;
		}
	}
}

void limit_begin(pid_t group, double seconds)
{
	const struct sigaction action = {.sa_handler = on_alarm};
	struct itimerval timer = {0};

	g.timed_out = 0;
	g.limited = group;
	sigaction(SIGALRM, &action, NULL);
	timer.it_value.tv_sec = (time_t)seconds;
	timer.it_value.tv_usec =
		(suseconds_t)((seconds - floor(seconds)) * 1e6);
	/* Again and again, in case it strikes between two steps. */
	timer.it_interval.tv_usec = 100000;
	setitimer(ITIMER_REAL, &timer, NULL);
}

bool limit_end(void)
{
	const struct itimerval off = {0};

	setitimer(ITIMER_REAL, &off, NULL);
	g.limited = 0;
	return g.timed_out;
}

static int temporary_file(void)
{
	const char *directory = getenv("TMPDIR");
	int fd;

	if (directory == NULL || *directory == '\0') {
		directory = "/tmp";
	}
	fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		char *path = tool_format("%s/allocmux-XXXXXX", directory);

		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0) {
			unlink(path);
		}
		free(path);
	}
	if (fd < 0) {
		tool_perror("no temporary file in %s", directory);
	}
	return fd;
}

int capture_open(struct capture *capture)
{
	capture->out = temporary_file();
	if (capture->out < 0) {
		return -1;
	}
	capture->err = temporary_file();
	if (capture->err < 0) {
		close(capture->out);
		return -1;
	}
	return 0;
}

void capture_close(struct capture *capture)
{
	close(capture->out);
	close(capture->err);
}

char *capture_read(int fd, size_t *size)
{
	struct stat info;
	size_t done = 0;
	char *text;
	ssize_t n = 1;

	if (fstat(fd, &info) != 0) {
		info.st_size = 0;
	}
	text = tool_alloc((size_t)info.st_size + 1);
	while (n > 0 && done < (size_t)info.st_size) {
		n = pread(fd, text + done, (size_t)info.st_size - done,
			(off_t)done);
		done += n > 0 ? (size_t)n : 0;
	}
	text[done] = '\0';
	if (size != NULL) {
		*size = done;
	}
	return text;
}

static char *last_line(int fd)
{
	enum { SHOWN = 200 };
	char *text = capture_read(fd, NULL);
	size_t end = strlen(text);
	size_t start;
	char *line;

	while (end > 0 && strchr(" \t\r\n", text[end - 1]) != NULL) {
		end--;
	}
	text[end] = '\0';
	for (start = end; start > 0 && text[start - 1] != '\n'; start--) {
	}
	if (end - start > SHOWN) {
		text[start + SHOWN] = '\0';
	}
	line = tool_strdup(text + start);
	free(text);
	return line;
}

char *capture_last_line(const struct capture *capture)
{
	char *line = last_line(capture->err);

	if (*line == '\0') {
		free(line);
		line = last_line(capture->out);
	}
	return line;
}

char *failure_of_status(int status, const struct capture *capture)
{
	char *line;
	char *failure;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		return NULL;
	}
	line = capture_last_line(capture);
	if (WIFSIGNALED(status)) {
		failure = tool_format("killed by SIG%s%s%s",
			sigabbrev_np(WTERMSIG(status))
				? sigabbrev_np(WTERMSIG(status))
				: "?",
			*line ? ": " : "", line);
	} else {
		failure = tool_format("exit status %d%s%s", WEXITSTATUS(status),
			*line ? ": " : "", line);
	}
	free(line);
	return failure;
}

static int subject_setenv(const struct subject *subject)
{
	const char *before;
	char *list;
	int status;

	switch (subject->kind) {
	case SUBJECT_SHIM:
		/* A fall-back to another backend would be a wrong figure. */
		setenv("ALLOC_STRICT", "1", 1);
		return launch_setenv(subject->backend);
	case SUBJECT_PRELOAD:
		before = getenv("LD_PRELOAD");
		list = tool_format("%s%s%s", subject->backend,
			before && *before ? ":" : "", before ? before : "");
		status = setenv("LD_PRELOAD", list, 1);
		free(list);
		return status;
	case SUBJECT_NONE:
		break;
	}
	return 0;
}

/* Each run reads the same input from its start. */
static void child_stdin(void)
{
	struct stat info;
	int fd = -1;

	if (fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode)) {
		fd = open("/proc/self/fd/0", O_RDONLY);
	}
	if (fd < 0) {
		fd = open("/dev/null", O_RDONLY);
	}
	if (fd > 0) {
		dup2(fd, STDIN_FILENO);
		close(fd);
	}
}

static void child_run(const struct start *start, const struct subject *subject,
	char *const *argv, const struct capture *capture)
	__attribute__((noreturn));

static void child_run(const struct start *start, const struct subject *subject,
	char *const *argv, const struct capture *capture)
{
	sigset_t none;
	char byte = 0;
	int error;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	child_stdin();
	if (subject != NULL && subject_setenv(subject) != 0) {
		_exit(TOOL_BROKEN);
	}
	fflush(stderr);
	dup2(capture->out, STDOUT_FILENO);
	dup2(capture->err, STDERR_FILENO);
	/* Tell that all is set up, then wait for the start. */
	if (write(start->result, &byte, 1) != 1 ||
		read(start->release, &byte, 1) != 1) {
		_exit(TOOL_BROKEN);
	}
	execvp(argv[0], argv);
	error = errno;
	if (write(start->result, &error, sizeof(error)) < 0) {
		_exit(TOOL_BROKEN);
	}
	_exit(127);
}

int start_prepare(struct start *start, const struct subject *subject,
	char *const *argv, const struct capture *capture)
{
	int release[2];
	int result[2];
	char byte;

	if (pipe2(release, O_CLOEXEC) != 0) {
		tool_perror("pipe");
		return -1;
	}
	if (pipe2(result, O_CLOEXEC) != 0) {
		tool_perror("pipe");
		goto fail_result;
	}
	fflush(NULL);
	start->pid = fork();
	if (start->pid < 0) {
		tool_perror("fork");
		goto fail_fork;
	}
	if (start->pid == 0) {
		struct start own = {0, release[0], result[1]};

		close(release[1]);
		child_run(&own, subject, argv, capture);
	}
	setpgid(start->pid, start->pid);
	group_add(start->pid);
	close(release[0]);
	close(result[1]);
	start->release = release[1];
	start->result = result[0];
	if (read(start->result, &byte, 1) == 1) {
		return 0;
	}
	waitpid(start->pid, NULL, 0); /* it has said what went wrong */
	start_forget(start);
	close(start->release);
	close(start->result);
	return -1;

fail_fork:
	close(result[0]);
	close(result[1]);
fail_result:
	close(release[0]);
	close(release[1]);
	return -1;
}

int start_release(struct start *start)
{
	int error = 0;

	if (write(start->release, "", 1) != 1) {
		error = errno;
	} else if (read(start->result, &error, sizeof(error)) !=
		   sizeof(error)) {
		error = 0; /* the pipe was closed by a successful execvp() */
	}
	close(start->release);
	close(start->result);
	return error;
}

int shell_run(
	const char *text, double timeout, const char *what, char **failure)
{
	char *argv[] = {"sh", "-c", (char *)text, NULL};
	struct capture capture;
	struct start start;
	int status = 0;
	int error;

	*failure = NULL;
	if (capture_open(&capture) != 0) {
		exit(TOOL_BROKEN);
	}
	if (start_prepare(&start, NULL, argv, &capture) != 0) {
		exit(TOOL_BROKEN);
	}
	limit_begin(start.pid, timeout);
	error = start_release(&start);
	while (waitpid(start.pid, &status, 0) < 0 && errno == EINTR) {
	}
	start_forget(&start);
	if (limit_end()) {
		*failure = tool_format("%s: timed out", what);
	} else if (error != 0) {
		*failure = tool_format("%s: sh: %s", what, strerror(error));
	} else {
		char *reason = failure_of_status(status, &capture);

		if (reason != NULL) {
			*failure = tool_format("%s: %s", what, reason);
		}
		free(reason);
	}
	capture_close(&capture);
	return *failure != NULL ? -1 : 0;
}
