/* SPDX-License-Identifier: MIT */
/*
 * dwarfindex.c - libdw read with an index of our own.
 *
 * libdw finds scopes by walking a unit's whole tree for each address, a
 * millisecond each. Here a unit's tree is walked once, without entering
 * functions, and a function's once, when it is hit.
 *
 * Ranges that start at 0 belong to code that the linker threw away.
 */
#include "dwarfindex.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* An inlined call; several if its code is not in one piece. */
struct inlined {
	uint64_t low;
	uint64_t high;
	Dwarf_Die die;
	int depth;
};

struct function {
	Dwarf_Die die;
	struct inlined *inlined; /* in the order of the tree */
	size_t inlined_count;
	bool expanded;
};

struct range {
	uint64_t low;
	uint64_t high;
	size_t target; /* index of a function, or of a unit */
};

struct ranges {
	struct range *list;
	size_t count;
};

struct unit {
	Dwarf_Die lines; /* its line table is this DIE's */
	Dwarf_Die tree;
	struct function *functions;
	size_t function_count;
	struct ranges ranges;
	bool entered;
	bool types_have_code; /* functions are defined inside types (Rust) */
};

struct dwarfindex {
	Dwarf *dwarf;
	struct unit *units;
	size_t unit_count;
	struct ranges ranges;
};

static void ranges_add(
	struct ranges *ranges, uint64_t low, uint64_t high, size_t target)
{
	size_t count = ranges->count;

	if (low == 0 || low >= high) {
		return;
	}
	if ((count & (count - 1)) == 0) {
		ranges->list = tool_realloc(ranges->list,
			(count ? 2 * count : 1) * sizeof(*ranges->list));
	}
	ranges->list[ranges->count++] =
		(struct range){.low = low, .high = high, .target = target};
}

static void ranges_add_die(struct ranges *ranges, Dwarf_Die *die, size_t target)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		ranges_add(ranges, low, high, target);
	}
}

static int range_compare(const void *a, const void *b)
{
	const struct range *x = a;
	const struct range *y = b;

	if (x->low != y->low) {
		return x->low < y->low ? -1 : 1;
	}
	return x->high > y->high ? -1 : x->high < y->high;
}

static void ranges_sort(struct ranges *ranges)
{
	if (ranges->count > 0) {
		qsort(ranges->list, ranges->count, sizeof(*ranges->list),
			range_compare);
	}
}

static const struct range *ranges_find(
	const struct ranges *ranges, uint64_t addr)
{
	size_t low = 0;
	size_t high = ranges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->list[middle].low <= addr) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	for (int back = 0; low > 0 && back < 8; back++, low--) {
		if (addr < ranges->list[low - 1].high) {
			return &ranges->list[low - 1];
		}
	}
	return NULL;
}

static void units_index(struct dwarfindex *index)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	Dwarf_Die sub;

	while (dwarf_get_units(index->dwarf, cu, &cu, NULL, NULL, &die, &sub) ==
		0) {
		size_t count = index->unit_count;
		int language;
		struct unit *unit;

		if (dwarf_tag(&die) != DW_TAG_compile_unit &&
			dwarf_tag(&die) != DW_TAG_skeleton_unit) {
			continue;
		}
		if ((count & (count - 1)) == 0) {
			index->units = tool_realloc(
				index->units, (count ? 2 * count : 1) *
						      sizeof(*index->units));
		}
		unit = &index->units[index->unit_count++];
		memset(unit, 0, sizeof(*unit));
		unit->lines = die;
		/* With split debug information the tree is elsewhere. */
		unit->tree = sub.addr != NULL ? sub : die;
		language = dwarf_srclang(&unit->tree);
		unit->types_have_code = language == DW_LANG_Rust;
		ranges_add_die(&index->ranges, &die, count);
	}
	ranges_sort(&index->ranges);
}

struct dwarfindex *dwarfindex_create(Elf *elf)
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	struct dwarfindex *index;

	if (dwarf == NULL) {
		return NULL;
	}
	index = tool_alloc(sizeof(*index));
	index->dwarf = dwarf;
	units_index(index);
	return index;
}

void dwarfindex_destroy(struct dwarfindex *index)
{
	if (index == NULL) {
		return;
	}
	for (size_t i = 0; i < index->unit_count; i++) {
		struct unit *unit = &index->units[i];

		for (size_t j = 0; j < unit->function_count; j++) {
			free(unit->functions[j].inlined);
		}
		free(unit->functions);
		free(unit->ranges.list);
	}
	free(index->units);
	free(index->ranges.list);
	dwarf_end(index->dwarf);
	free(index);
}

static bool holds_functions(const struct unit *unit, int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		return true;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return unit->types_have_code;
	default:
		return false;
	}
}

static void function_add(struct unit *unit, Dwarf_Die *die)
{
	size_t count = unit->function_count;
	size_t ranges = unit->ranges.count;

	ranges_add_die(&unit->ranges, die, count);
	if (unit->ranges.count == ranges) {
		return; /* a declaration, or the abstract form */
	}
	if ((count & (count - 1)) == 0) {
		unit->functions = tool_realloc(unit->functions,
			(count ? 2 * count : 1) * sizeof(*unit->functions));
	}
	unit->functions[unit->function_count++] =
		(struct function){.die = *die};
}

/* Depth of namespaces is the program's choice; damage must not recurse. */
static void functions_walk(struct unit *unit, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > DWARF_DEPTH_MAX || dwarf_child(parent, &die) != 0) {
		return;
	}
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram) {
			function_add(unit, &die);
		} else if (holds_functions(unit, tag)) {
			functions_walk(unit, &die, depth + 1);
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static void inlined_walk(
	struct function *function, Dwarf_Die *parent, int depth, int inlines)
{
	Dwarf_Die die;

	if (depth > 4 * DWARF_DEPTH_MAX || dwarf_child(parent, &die) != 0) {
		return;
	}
	do {
		int tag = dwarf_tag(&die);
		Dwarf_Addr base, low, high;
		ptrdiff_t at = 0;

		if (tag == DW_TAG_lexical_block) {
			inlined_walk(function, &die, depth + 1, inlines);
			continue;
		}
		if (tag != DW_TAG_inlined_subroutine) {
			continue;
		}
		while ((at = dwarf_ranges(&die, at, &base, &low, &high)) > 0) {
			size_t count = function->inlined_count;

			if ((count & (count - 1)) == 0) {
				function->inlined = tool_realloc(
					function->inlined,
					(count ? 2 * count : 1) *
						sizeof(*function->inlined));
			}
			function->inlined[function->inlined_count++] =
				(struct inlined){.low = low,
					.high = high,
					.die = die,
					.depth = inlines};
		}
		inlined_walk(function, &die, depth + 1, inlines + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
}

static const char *die_name(Dwarf_Die *die, bool *mangled)
{
	Dwarf_Attribute attribute;
	const char *name;

	*mangled = false;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) != NULL ||
		dwarf_attr_integrate(
			die, DW_AT_MIPS_linkage_name, &attribute) != NULL) {
		name = dwarf_formstring(&attribute);
		if (name != NULL) {
			*mangled = true;
			return name;
		}
	}
	return dwarf_attr_integrate(die, DW_AT_name, &attribute) != NULL
		       ? dwarf_formstring(&attribute)
		       : NULL;
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_attr(die, name, &attribute) == NULL ||
		dwarf_formudata(&attribute, &value) != 0) {
		return 0;
	}
	return value;
}

/* Where an inlined function was called. */
static void call_place(
	struct unit *unit, Dwarf_Die *die, struct dwarf_place *place)
{
	Dwarf_Files *files;
	size_t count;
	Dwarf_Word file = number_of(die, DW_AT_call_file);

	if (dwarf_getsrcfiles(&unit->tree, &files, &count) == 0 &&
		file < count) {
		place->file = dwarf_filesrc(files, file, NULL, NULL);
	}
	place->line = (int)number_of(die, DW_AT_call_line);
}

static void line_place(
	struct unit *unit, uint64_t addr, struct dwarf_place *place)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->lines, addr);

	place->file = NULL;
	place->line = 0;
	if (line != NULL) {
		place->file = dwarf_linesrc(line, NULL, NULL);
		dwarf_lineno(line, &place->line);
	}
}

static void unit_enter(struct unit *unit)
{
	if (!unit->entered) {
		unit->entered = true;
		functions_walk(unit, &unit->tree, 0);
		ranges_sort(&unit->ranges);
	}
}

int dwarfindex_find(struct dwarfindex *index, uint64_t addr,
	struct dwarf_place places[DWARF_DEPTH_MAX])
{
	const struct range *range = ranges_find(&index->ranges, addr);
	struct unit *unit;
	struct function *function;
	Dwarf_Die *chain[DWARF_DEPTH_MAX];
	int depth = 0;

	if (range == NULL) {
		return 0;
	}
	unit = &index->units[range->target];
	unit_enter(unit);
	line_place(unit, addr, &places[0]);
	range = ranges_find(&unit->ranges, addr);
	if (range == NULL) {
		places[0].name = NULL;
		return 1;
	}
	function = &unit->functions[range->target];
	if (!function->expanded) {
		function->expanded = true;
		inlined_walk(function, &function->die, 0, 1);
	}
	chain[depth++] = &function->die;
	for (size_t i = 0; i < function->inlined_count; i++) {
		struct inlined *in = &function->inlined[i];

		if (in->low <= addr && addr < in->high && in->depth == depth &&
			depth < DWARF_DEPTH_MAX) {
			chain[depth++] = &in->die;
		}
	}
	for (int i = 0; i < depth; i++) {
		Dwarf_Die *die = chain[depth - 1 - i];

		places[i].name = die_name(die, &places[i].mangled);
		if (i + 1 < depth) {
			call_place(unit, die, &places[i + 1]);
		}
	}
	return depth;
}
