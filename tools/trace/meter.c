/* SPDX-License-Identifier: MIT */
/*
 * meter.c - the progress line of long work on traces.
 */
#include "meter.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct {
	uint64_t last_ns;
	bool shown;
	int terminal; /* 0: not asked yet; 1: yes; -1: no */
} g;

static bool is_terminal(void)
{
	if (g.terminal == 0) {
		g.terminal = isatty(STDERR_FILENO) ? 1 : -1;
	}
	return g.terminal > 0;
}

void meter_show(const char *what, uint64_t done, uint64_t total)
{
	struct timespec time;
	uint64_t ns;

	if (!is_terminal()) {
		return;
	}
	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	ns = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
	if (g.last_ns == 0) {
		g.last_ns = ns; /* nothing for work that is done soon */
	}
	if (ns - g.last_ns < 200000000) {
		return;
	}
	g.last_ns = ns;
	g.shown = true;
	if (total > 0 && done <= total) {
		fprintf(stderr, "\r%s: %d %%\033[K", what,
			(int)(100.0 * (double)done / (double)total));
	} else {
		fprintf(stderr, "\r%s ...\033[K", what);
	}
}

void meter_clear(void)
{
	if (g.shown) {
		fputs("\r\033[K", stderr);
		g.shown = false;
	}
}
