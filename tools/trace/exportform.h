/* SPDX-License-Identifier: MIT */
/*
 * exportform.h - the formats of `allocmux export`, one file each.
 */
#ifndef AMUX_TOOLS_EXPORTFORM_H
#define AMUX_TOOLS_EXPORTFORM_H

#include <stdio.h>

#include "heapview.h"

struct export_request {
	const struct view *view;
	enum metric metric; /* for formats that hold one */
	const char *path;   /* of the output; NULL: stdout */
	FILE *out;          /* of path; NULL for formats with needs_path */
};

struct export_form {
	const char *name;
	const char *help;
	bool needs_events; /* not for traces of mode profile */
	bool needs_every;  /* only for traces of mode record */
	bool needs_path;   /* writes the file itself */
	/* Write; false: that failed and was said. NULL: not built in. */
	bool (*write)(const struct export_request *request);
	const char *missing; /* what it needs to be built in */
};

/* All formats; name NULL ends the table. */
extern const struct export_form export_forms[];

bool export_collapsed(const struct export_request *request);
bool export_pprof(const struct export_request *request);
bool export_speedscope(const struct export_request *request);
bool export_massif(const struct export_request *request);
bool export_heaptrack(const struct export_request *request);
bool export_sqlite(const struct export_request *request);
bool export_chrome(const struct export_request *request);
bool export_html(const struct export_request *request);

#endif
