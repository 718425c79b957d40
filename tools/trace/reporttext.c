/* SPDX-License-Identifier: MIT */
/*
 * reporttext.c - the summary.
 *
 * Not here: trees and lists of functions (reporttree.c), histograms
 * (reportbars.c).
 */
#include "reporttext.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calltree.h"
#include "reportbars.h"
#include "reportlines.h"
#include "textform.h"
#include "tool.h"

static const char *mode_name(uint32_t mode)
{
	return mode == AMUX_TRACE_PROFILE  ? "profile"
	       : mode == AMUX_TRACE_SAMPLE ? "sample"
					   : "record";
}

static void print_head(const struct view *view)
{
	const struct trace *t = view->trace;
	const char *const *texts = (const char *const *)t->info.texts;
	const char *exe = texts[AMUX_TRACE_TEXT_EXE];
	const char *backend = texts[AMUX_TRACE_TEXT_BACKEND];
	char text[TEXT_NUMBER];

	if (exe != NULL && strrchr(exe, '/') != NULL) {
		exe = strrchr(exe, '/') + 1;
	}
	printf("%s, pid %u", exe ? exe : "unknown program", t->header.pid);
	if (backend != NULL) {
		printf(", allocator %s", backend);
	}
	printf(", mode %s", mode_name(t->header.mode));
	if (t->header.mode == AMUX_TRACE_SAMPLE) {
		printf(" (a sample every %s; figures are estimates from %s)",
			text_bytes(text, t->header.interval),
			text_count((char[TEXT_NUMBER]){0},
				t->account.total.samples));
	}
	printf("\n");
	if (t->info.cmdline != NULL) {
		printf("command: %.*s\n", text_width() - 9, t->info.cmdline);
	}
	if (t->header.state == AMUX_TRACE_RUNNING) {
		printf("The trace was not ended in order: the process was "
		       "killed, called exec, or still runs.\n");
	}
	if (!(t->header.features & AMUX_TRACE_F_STARTUP)) {
		printf("The trace began while the program ran: earlier blocks "
		       "are not in it.\n");
	}
	if (view->filtered) {
		printf("Filters leave out some stacks; \"in all\" counts all "
		       "of them.\n");
	}
}

static uint32_t threads_count(const struct account *a)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < a->thread_room; i++) {
		count += a->threads[i].allocs + a->threads[i].frees > 0;
	}
	return count;
}

static void print_totals(const struct view *view)
{
	const struct trace *trace = view->trace;
	const struct totals *t = &trace->account.total;
	char a[TEXT_NUMBER];
	char b[TEXT_NUMBER];
	uint64_t end = trace->header.end_ns > t->end_ns ? trace->header.end_ns
							: t->end_ns;

	printf("\n  allocated   %12s in %s calls", text_bytes(a, t->bytes),
		text_count(b, t->allocs));
	if (t->reallocs > 0) {
		printf(", %s of them realloc", text_count(a, t->reallocs));
	}
	if (end > 0) {
		printf("\n  a second    %12s calls",
			text_count(a, (uint64_t)((double)t->allocs * 1e9 /
						 (double)end)));
	}
	printf("\n  peak        %12s", text_bytes(a, t->peak_bytes));
	if (end > 0) {
		printf(" at %s of %s", text_time(b, t->peak_ns),
			text_time((char[TEXT_NUMBER]){0}, end));
	}
	printf("\n  not freed   %12s in %s blocks",
		text_bytes(a, t->live_bytes),
		text_count(b, t->allocs > t->frees ? t->allocs - t->frees : 0));
	if (view->suppressed_bytes > 0) {
		printf(" (%s of it suppressed)",
			text_bytes(a, view->suppressed_bytes));
	}
	printf("\n  temporary   %12s allocations (%.1f %%)\n",
		text_count(a, t->temporary),
		text_percent(t->temporary, t->allocs));
	if (trace->header.features & AMUX_TRACE_F_USABLE) {
		printf("  usable      %12s for what was requested (%.1f %% "
		       "more)\n",
			text_bytes(a, t->usable),
			text_percent(t->usable - t->bytes, t->bytes));
	}
	if (t->failed > 0) {
		printf("  failed      %12s allocations\n",
			text_count(a, t->failed));
	}
	if (trace_has_events(trace)) {
		printf("  threads     %12" PRIu32 "\n",
			threads_count(&trace->account));
	}
	if (t->unknown_frees > 0) {
		printf("  unknown     %12s frees of blocks from before the "
		       "trace\n",
			text_count(a, t->unknown_frees));
	}
}

static const char *const metric_titles[METRIC_COUNT] = {
	[METRIC_BYTES] = "Most bytes allocated",
	[METRIC_CALLS] = "Most allocations",
	[METRIC_PEAK] = "Live at the peak",
	[METRIC_LEAKED] = "Not freed at the end",
	[METRIC_TEMPORARY] = "Most temporary allocations (freed before the "
			     "thread's next one)"};

static void print_sites(struct flat *flat, const struct view *view,
	const struct report_options *options, enum metric metric)
{
	uint32_t limit = options->limit > 0              ? options->limit
			 : options->sort != METRIC_COUNT ? 20
							 : 5;

	if (view->total.metric[metric] == 0) {
		return;
	}
	flat_sort(flat, metric, false);
	printf("\n%s\n", metric_titles[metric]);
	for (uint32_t i = 0; i < flat->count && i < limit; i++) {
		if (flat->entries[i].self.metric[metric] == 0) {
			break;
		}
		lines_site(view, options, &flat->entries[i], metric);
	}
}

static void print_objects(
	const struct view *view, const struct report_options *options)
{
	struct flat flat;
	char a[TEXT_NUMBER];
	char b[TEXT_NUMBER];
	char c[TEXT_NUMBER];
	enum metric sort =
		options->sort == METRIC_COUNT ? METRIC_BYTES : options->sort;

	flat_objects(&flat, view);
	flat_sort(&flat, sort, false);
	printf("\nBy module      %12s %14s %12s\n", "allocated", "calls",
		"not freed");
	for (uint32_t i = 0; i < flat.count && i < 8; i++) {
		const struct flat_entry *e = &flat.entries[i];
		const char *name = view_object_name(view, e->place);

		printf("  %12s %14s %12s  %s\n",
			text_bytes(a, e->self.metric[METRIC_BYTES]),
			text_count(b, e->self.metric[METRIC_CALLS]),
			text_bytes(c, e->self.metric[METRIC_LEAKED]),
			name[0] != '\0' ? name : "(code without a file)");
	}
	flat_fini(&flat);
}

static int thread_compare(const void *a, const void *b)
{
	const struct thread_counts *x = *(const struct thread_counts *const *)a;
	const struct thread_counts *y = *(const struct thread_counts *const *)b;

	if (x->bytes != y->bytes) {
		return x->bytes > y->bytes ? -1 : 1;
	}
	return x->thread < y->thread ? -1 : 1;
}

static void print_threads(const struct view *view)
{
	const struct account *a = &view->trace->account;
	const struct thread_counts **list;
	uint32_t count = 0;
	char b[4][TEXT_NUMBER];

	list = tool_alloc(a->thread_room * sizeof(*list));
	for (uint32_t i = 0; i < a->thread_room; i++) {
		if (a->threads[i].allocs + a->threads[i].frees > 0) {
			list[count++] = &a->threads[i];
		}
	}
	qsort(list, count, sizeof(*list), thread_compare);
	printf("\nBy thread %12s %14s %12s %14s\n", "allocated", "calls",
		"own peak", "others' freed");
	for (uint32_t i = 0; i < count && i < 8; i++) {
		const struct trace_thread_info *info =
			info_thread(&view->trace->info, list[i]->thread);

		printf("     %12s %14s %12s %14s  %u",
			text_bytes(b[0], list[i]->bytes),
			text_count(b[1], list[i]->allocs),
			text_bytes(b[2], list[i]->peak_bytes),
			text_count(b[3], list[i]->foreign_frees),
			list[i]->thread);
		if (info != NULL && info->name != NULL) {
			printf(" %s", info->name);
		}
		printf("\n");
	}
	if (count > 8) {
		printf("     and %u more\n", count - 8);
	}
	free(list);
}

void report_summary(
	const struct view *view, const struct report_options *options)
{
	struct flat flat;

	print_head(view);
	print_totals(view);
	if (trace_has_events(view->trace)) {
		bars_timeline(&view->trace->account);
	}
	flat_sites(&flat, view);
	for (int i = 0; i < METRIC_COUNT; i++) {
		if (options->sort == METRIC_COUNT ||
			options->sort == (enum metric)i) {
			print_sites(&flat, view, options, (enum metric)i);
		}
	}
	flat_fini(&flat);
	print_objects(view, options);
	if (trace_has_events(view->trace)) {
		print_threads(view);
		bars_sizes(&view->trace->account);
	}
	bars_lifetimes(&view->trace->account);
}
