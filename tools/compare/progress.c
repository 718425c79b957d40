/* SPDX-License-Identifier: MIT */
/* progress.c - see progress.h. */
#include "progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "measure.h"

enum { BAR = 24 };

void progress_begin(struct progress *progress, size_t total)
{
	struct winsize size = {0};

	*progress = (struct progress){.total = total, .begin = clock_seconds()};
	if (isatty(STDERR_FILENO)) {
		ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
		progress->columns = size.ws_col > 0 ? size.ws_col : 80;
	}
}

/* "1:02:03", or nothing as long as nothing is known. */
static void time_left(
	const struct progress *progress, size_t done, char *text, size_t size)
{
	double spent = clock_seconds() - progress->begin;
	unsigned left;

	if (done == 0) {
		snprintf(text, size, "time left unknown");
		return;
	}
	left = (unsigned)(spent / (double)done *
				  (double)(progress->total - done) +
			  0.5);
	if (left >= 3600) {
		snprintf(text, size, "%u:%02u:%02u left", left / 3600,
			left / 60 % 60, left % 60);
	} else {
		snprintf(text, size, "%u:%02u left", left / 60, left % 60);
	}
}

void progress_show(struct progress *progress, size_t done, const char *what)
{
	static const char full[] = "########################";
	char line[256];
	char left[64];
	int filled;

	if (progress->columns == 0) {
		return;
	}
	filled =
		progress->total > 0 ? (int)(BAR * done / progress->total) : BAR;
	time_left(progress, done, left, sizeof(left));
	snprintf(line, sizeof(line), "[%-*.*s] %zu/%zu, %s: %s", BAR, filled,
		full, done, progress->total, left, what);
	/* Never wrap: a second line could not be taken back. */
	fprintf(stderr, "\r%.*s\033[K", progress->columns - 1, line);
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->columns > 0) {
		fprintf(stderr, "\r\033[K");
		fflush(stderr);
	}
}
