/* SPDX-License-Identifier: MIT */
/*
 * exportmassif.c - massif.out: a snapshot for each step of the time line, the
 * one of the peak with its call tree.
 *
 * How much usable bytes exceed the requested ones is not known for each
 * moment: mem_heap_extra_B is 0.
 */
#include <inttypes.h>
#include <string.h>

#include "calltree.h"
#include "exportform.h"
#include "textform.h"

static void print_node(const struct view *view, FILE *out,
	const struct calltree *tree, uint32_t index, int depth);

/* Children worth a line: massif's default threshold is 1 %. */
static bool is_big(const struct calltree *tree, uint32_t index)
{
	uint64_t value = tree->nodes[index].cost.metric[METRIC_PEAK];

	return value > 0 &&
	       text_percent(value, tree->nodes[0].cost.metric[METRIC_PEAK]) >=
		       1;
}

static void print_children(const struct view *view, FILE *out,
	const struct calltree *tree, uint32_t index, int depth)
{
	uint64_t small = 0;
	uint32_t count = 0;

	for (uint32_t c = tree->nodes[index].child; c != 0;
		c = tree->nodes[c].next) {
		if (is_big(tree, c) && depth < 200) {
			print_node(view, out, tree, c, depth);
		} else if (tree->nodes[c].cost.metric[METRIC_PEAK] > 0) {
			small += tree->nodes[c].cost.metric[METRIC_PEAK];
			count++;
		}
	}
	if (count > 0) {
		fprintf(out,
			"%*sn0: %" PRIu64
			" in %u place%s, below massif's threshold (1.00%%)\n",
			depth, "", small, count, count == 1 ? "" : "s, all");
	}
}

static uint32_t lines_below(
	const struct calltree *tree, uint32_t index, int depth)
{
	uint32_t big = 0;
	uint32_t small = 0;

	for (uint32_t c = tree->nodes[index].child; c != 0;
		c = tree->nodes[c].next) {
		if (is_big(tree, c) && depth < 200) {
			big++;
		} else if (tree->nodes[c].cost.metric[METRIC_PEAK] > 0) {
			small = 1;
		}
	}
	return big + small;
}

static void print_node(const struct view *view, FILE *out,
	const struct calltree *tree, uint32_t index, int depth)
{
	const struct call_node *node = &tree->nodes[index];
	const struct place *p = &view->symbols.places[node->place];
	char source[256];

	text_source(source, sizeof(source), view, node->place);
	/* ms_print wants an address; a place has several, or none. */
	fprintf(out, "%*sn%u: %" PRIu64 " 0x%X: %s (%s)\n", depth, "",
		lines_below(tree, index, depth + 1),
		node->cost.metric[METRIC_PEAK], node->place, p->function,
		source[0] != '\0' ? source : "???");
	print_children(view, out, tree, index, depth + 1);
}

static void print_snapshot(const struct export_request *request, uint32_t n,
	uint64_t ms, uint64_t bytes, const struct calltree *tree)
{
	fprintf(request->out,
		"#-----------\nsnapshot=%u\n#-----------\ntime=%" PRIu64
		"\nmem_heap_B=%" PRIu64
		"\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
		n, ms, bytes, tree != NULL ? "peak" : "empty");
	if (tree != NULL) {
		fprintf(request->out,
			"n%u: %" PRIu64 " (heap allocation functions) "
			"malloc/new/new[], --alloc-fns, etc.\n",
			lines_below(tree, 0, 1),
			tree->nodes[0].cost.metric[METRIC_PEAK]);
		print_children(request->view, request->out, tree, 0, 1);
	}
}

bool export_massif(const struct export_request *request)
{
	const struct view *view = request->view;
	const struct trace *trace = view->trace;
	const struct timeline *t = &trace->account.timeline;
	struct calltree tree;
	uint64_t peak_step = trace->account.total.peak_ns / t->width;
	uint32_t n = 0;

	calltree_init(&tree, view, CALLTREE_CALLERS);
	calltree_sort(&tree, METRIC_PEAK);
	fprintf(request->out, "desc: allocmux\ncmd: %s\ntime_unit: ms\n",
		trace->info.cmdline != NULL ? trace->info.cmdline : "unknown");
	for (uint32_t i = 0; i < t->count; i++) {
		bool peak = i == peak_step;

		print_snapshot(request, n++,
			(peak ? trace->account.total.peak_ns : t->width * i) /
				1000000,
			peak ? view->total.metric[METRIC_PEAK]
			     : t->steps[i].peak,
			peak ? &tree : NULL);
	}
	print_snapshot(request, n, t->width * t->count / 1000000,
		trace->account.total.live_bytes, NULL);
	calltree_fini(&tree);
	return true;
}
