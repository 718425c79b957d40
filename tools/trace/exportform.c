/* SPDX-License-Identifier: MIT */
/*
 * exportform.c - the table of formats. What was not found when this was built
 * is there without its writer.
 */
#include "exportform.h"

#ifdef AMUX_HAVE_PROTOBUF_C
	#define PPROF export_pprof
#else
	#define PPROF NULL
#endif
#ifdef AMUX_HAVE_SQLITE
	#define SQLITE export_sqlite
#else
	#define SQLITE NULL
#endif
#ifdef AMUX_HAVE_HTML
	#define HTML export_html
#else
	#define HTML NULL
#endif

const struct export_form export_forms[] = {
	{.name = "collapsed",
		.help = "one line a stack, for flamegraph.pl and inferno",
		.write = export_collapsed},
	{.name = "pprof",
		.help = "pprof's protobuf, gzipped",
		.write = PPROF,
		.missing = "protobuf-c"},
	{.name = "speedscope",
		.help = "JSON for speedscope.app",
		.write = export_speedscope},
	{.name = "massif",
		.help = "massif.out, for ms_print and massif-visualizer",
		.needs_events = true,
		.write = export_massif},
	{.name = "heaptrack",
		.help = "for heaptrack_print and heaptrack_gui",
		.needs_events = true,
		.needs_every = true,
		.write = export_heaptrack},
	{.name = "sqlite",
		.help = "a database; its tables are in docs/trace-reports.md",
		.needs_path = true,
		.write = SQLITE,
		.missing = "sqlite3"},
	{.name = "chrome",
		.help = "counters for Perfetto and chrome://tracing",
		.needs_events = true,
		.write = export_chrome},
	{.name = "html",
		.help = "a report in one file for any browser",
		.write = HTML,
		.missing = "npm"},
	{.name = NULL},
};
