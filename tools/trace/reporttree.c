/* SPDX-License-Identifier: MIT */
/*
 * reporttree.c - trees, functions and leaks as text.
 */
#include <stdio.h>
#include <string.h>

#include "calltree.h"
#include "reportlines.h"
#include "reporttext.h"
#include "textform.h"

enum { NAME_ROOM = 4096, DEPTH_MAX = 200 };

static enum metric sort_of(const struct report_options *options)
{
	return options->sort == METRIC_COUNT ? METRIC_BYTES : options->sort;
}

static void print_name(const struct view *view,
	const struct report_options *options, uint32_t place, int used)
{
	char name[NAME_ROOM];
	char source[256];
	int width;

	text_source(source, sizeof(source), view, place);
	width = text_width() - used - (int)strlen(source) - 2;
	text_name(name, sizeof(name), view->symbols.places[place].function,
		options->full_names ? sizeof(name) - 1
		: width < 20        ? 20
				    : (size_t)width);
	printf("%s%s%s\n", name, source[0] != '\0' ? "  " : "", source);
}

/* How deep a node is shown: a chain of only children is not indented. */
static void print_node(const struct view *view,
	const struct report_options *options, const struct calltree *tree,
	uint32_t index, int indent)
{
	const struct call_node *node = &tree->nodes[index];
	enum metric metric = sort_of(options);
	uint64_t value = node->cost.metric[metric];
	char text[TEXT_NUMBER];
	int used = printf("%12s %5.1f %% %*s", text_metric(text, metric, value),
		text_percent(value, tree->nodes[0].cost.metric[metric]), indent,
		"");

	print_name(view, options, node->place, used);
}

static bool is_shown(const struct report_options *options,
	const struct calltree *tree, uint32_t node)
{
	enum metric metric = sort_of(options);
	uint64_t value = tree->nodes[node].cost.metric[metric];

	return value > 0 &&
	       text_percent(value, tree->nodes[0].cost.metric[metric]) >=
		       options->minimum;
}

/* Without recursion: trees may be as deep as stacks. */
static void print_children(const struct view *view,
	const struct report_options *options, const struct calltree *tree)
{
	uint32_t node = tree->nodes[0].child;
	int indent = 0;
	int depth = 0;
	int steps[DEPTH_MAX];

	while (node != 0) {
		const struct call_node *n = &tree->nodes[node];

		if (is_shown(options, tree, node)) {
			uint32_t child = n->child;
			bool alone;

			print_node(view, options, tree, node, indent);
			if (child != 0 && is_shown(options, tree, child) &&
				depth < DEPTH_MAX) {
				/* A path without branches stays in line. */
				alone = tree->nodes[child].next == 0 ||
					!is_shown(options, tree,
						tree->nodes[child].next);
				steps[depth] = alone && indent > 20 ? 0 : 1;
				indent += steps[depth++];
				node = child;
				continue;
			}
		}
		while (node != 0 && (tree->nodes[node].next == 0 ||
					    !is_shown(options, tree,
						    tree->nodes[node].next))) {
			node = tree->nodes[node].parent;
			if (depth > 0) {
				indent -= steps[--depth];
			}
		}
		if (node != 0) {
			node = tree->nodes[node].next;
		}
	}
}

void report_tree(const struct view *view, const struct report_options *options,
	bool callers)
{
	struct calltree tree;
	enum metric metric = sort_of(options);

	calltree_init(&tree, view, callers ? CALLTREE_CALLERS : 0);
	calltree_sort(&tree, metric);
	printf("%s by %s (at least %g %%)\n", callers ? "Callers" : "Calls",
		metric_names[metric], options->minimum);
	print_children(view, options, &tree);
	calltree_fini(&tree);
}

void report_flat(const struct view *view, const struct report_options *options)
{
	struct flat flat;
	enum metric metric = sort_of(options);
	uint32_t limit = options->limit > 0 ? options->limit : 40;
	char a[TEXT_NUMBER];
	char b[TEXT_NUMBER];

	flat_functions(&flat, view);
	flat_sort(&flat, metric, false);
	printf("%13s %7s %13s %7s  %s, by %s\n", "self", "", "with calls", "",
		"function", metric_names[metric]);
	for (uint32_t i = 0; i < flat.count && i < limit; i++) {
		const struct flat_entry *e = &flat.entries[i];
		uint64_t whole = view->total.metric[metric];
		int used = printf("%13s %5.1f %% %13s %5.1f %%  ",
			text_metric(a, metric, e->self.metric[metric]),
			text_percent(e->self.metric[metric], whole),
			text_metric(b, metric, e->all.metric[metric]),
			text_percent(e->all.metric[metric], whole));
		char name[NAME_ROOM];

		text_name(name, sizeof(name),
			view->symbols.places[e->place].function,
			options->full_names ? sizeof(name) - 1
					    : (size_t)(text_width() - used));
		puts(name);
	}
	flat_fini(&flat);
}

void report_leaks(const struct view *view, const struct report_options *options)
{
	struct flat flat;
	uint32_t limit = options->limit > 0 ? options->limit : 50;
	char a[TEXT_NUMBER];
	char b[TEXT_NUMBER];

	flat_sites(&flat, view);
	flat_sort(&flat, METRIC_LEAKED, false);
	for (uint32_t i = 0; i < flat.count && i < limit; i++) {
		const struct flat_entry *e = &flat.entries[i];
		const struct view_stack *top;

		if (e->self.metric[METRIC_LEAKED] == 0 &&
			e->self.leaked_calls == 0) {
			continue;
		}
		top = lines_top_stack(view, e->place, METRIC_LEAKED);
		printf("%s in %s block%s not freed",
			text_bytes(a, e->self.metric[METRIC_LEAKED]),
			text_count(b, e->self.leaked_calls),
			e->self.leaked_calls == 1 ? "" : "s");
		if (e->stacks > 1) {
			printf(" (from %u stacks; the greatest is shown)",
				e->stacks);
		}
		printf(":\n");
		if (top == NULL || top->count == 0) {
			printf("    (stack unknown)\n");
		} else {
			lines_stack(view, options, top, 0, 4);
		}
		printf("\n");
	}
	flat_fini(&flat);
}
