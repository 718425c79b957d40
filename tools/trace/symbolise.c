/* SPDX-License-Identifier: MIT */
/*
 * symbolise.c - all frames at once, object by object: an object's files are
 * open only while its frames are looked up.
 */
#include "symbolise.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "dwarfindex.h"
#include "meter.h"
#include "symtab.h"
#include "tool.h"

static uint32_t *place_slot(const struct symbols *s, const struct place *p)
{
	uint64_t h =
		(uint64_t)(uintptr_t)p->function * 0x9e3779b97f4a7c15u ^
		(uint64_t)(uintptr_t)p->file * 0xc2b2ae3d27d4eb4fu ^
		((uint64_t)p->line << 16 | p->object) * 0x165667b19e3779f9u;
	uint32_t i = (uint32_t)(h >> 32) & (s->place_room - 1);

	while (s->place_map[i] != 0) {
		const struct place *q = &s->places[s->place_map[i]];

		if (q->function == p->function && q->file == p->file &&
			q->line == p->line && q->object == p->object) {
			break;
		}
		i = (i + 1) & (s->place_room - 1);
	}
	return &s->place_map[i];
}

/* The index of this place, whose texts are of the pool. */
static uint32_t place_add(struct symbols *s, const struct place *place)
{
	uint32_t *slot = place_slot(s, place);

	if (*slot != 0) {
		return *slot;
	}
	if (2 * s->place_count >= s->place_room) {
		s->place_room *= 2;
		s->places = tool_realloc(
			s->places, s->place_room / 2 * sizeof(*s->places));
		free(s->place_map);
		s->place_map =
			tool_alloc(s->place_room * sizeof(*s->place_map));
		for (uint32_t i = 1; i < s->place_count; i++) {
			*place_slot(s, &s->places[i]) = i;
		}
		slot = place_slot(s, place);
	}
	*slot = s->place_count;
	s->places[s->place_count] = *place;
	return s->place_count++;
}

static void list_add(struct symbols *s, uint32_t place)
{
	uint32_t count = s->list_count;

	if ((count & (count - 1)) == 0) {
		s->list = tool_realloc(s->list,
			(count ? 2 * (size_t)count : 1) * sizeof(*s->list));
	}
	s->list[s->list_count++] = place;
}

/* Readable and linked name. */
static void name_set(
	struct symbols *s, struct place *place, const char *name, bool mangled)
{
	char *readable = mangled ? demangle(name) : NULL;

	place->symbol = strpool_add(&s->pool, name);
	place->function =
		readable ? strpool_add(&s->pool, readable) : place->symbol;
	free(readable);
}

struct object_files {
	struct debugfile files;
	struct symtab symtab;
	struct dwarfindex *dwarf;
	const char *name; /* last part of the path; "" if none */
};

static void name_unknown(struct symbols *s, struct place *place,
	const struct object_files *object, uint64_t addr)
{
	char text[512];

	if (object->name[0] != '\0') {
		snprintf(text, sizeof(text), "%s+0x%" PRIx64, object->name,
			addr);
	} else {
		snprintf(text, sizeof(text), "0x%" PRIx64, addr);
	}
	place->function = strpool_add(&s->pool, text);
	place->symbol = NULL;
}

static void frame_resolve(struct symbols *s, struct frame_places *frame,
	const struct object_files *object)
{
	uint64_t addr = frame_addr(frame->frame);
	struct dwarf_place found[DWARF_DEPTH_MAX];
	int count = object->dwarf != NULL
			    ? dwarfindex_find(object->dwarf, addr, found)
			    : 0;

	if (count == 0) {
		found[0] = (struct dwarf_place){0};
		count = 1;
	}
	frame->first = s->list_count;
	frame->count = (uint32_t)count;
	for (int i = 0; i < count; i++) {
		struct place place = {.object = frame_object(frame->frame),
			.line = (uint32_t)found[i].line};
		const char *name = found[i].name;
		bool mangled = found[i].mangled;

		/* The function itself may have its full name only here. */
		if (i + 1 == count && !mangled) {
			const char *symbol = symtab_find(&object->symtab, addr);

			if (symbol != NULL &&
				(name == NULL || symbol[0] == '_')) {
				name = symbol;
				mangled = true;
			}
		}
		if (name != NULL) {
			name_set(s, &place, name, mangled);
		} else {
			name_unknown(s, &place, object, addr);
		}
		if (found[i].file != NULL) {
			place.file = strpool_add(&s->pool, found[i].file);
		}
		list_add(s, place_add(s, &place));
	}
}

static void object_open(struct symbols *s, const struct trace_info *info,
	uint32_t number, bool lines, struct object_files *object)
{
	const struct trace_object *from;
	const char *slash;

	memset(object, 0, sizeof(*object));
	object->name = "";
	if (number == 0 || number > info->object_count) {
		return;
	}
	from = &info->objects[number - 1];
	slash = strrchr(from->path, '/');
	object->name = slash != NULL ? slash + 1 : from->path;
	debugfile_open(&object->files, from);
	s->status[number - 1] = object->files.status;
	if (object->files.debug_path != NULL) {
		s->debug_paths[number - 1] =
			tool_strdup(object->files.debug_path);
	}
	symtab_init(&object->symtab, object->files.main, object->files.debug);
	if (lines && object->files.debug != NULL) {
		object->dwarf = dwarfindex_create(object->files.debug);
	}
}

static void object_close(struct object_files *object)
{
	dwarfindex_destroy(object->dwarf);
	symtab_fini(&object->symtab);
	debugfile_close(&object->files);
}

static int u64_compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a;
	const uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The distinct frames of the trie, sorted: those of an object together. */
static void frames_collect(struct symbols *s, const struct stacktrie *trie)
{
	uint64_t *all = tool_alloc(trie->count * sizeof(*all));
	uint32_t count = 0;

	for (uint32_t i = 1; i < trie->count; i++) {
		all[i - 1] = trie->nodes[i].frame;
	}
	qsort(all, trie->count - 1, sizeof(*all), u64_compare);
	for (uint32_t i = 0; i + 1 < trie->count; i++) {
		if (i == 0 || all[i] != all[i - 1]) {
			all[count++] = all[i];
		}
	}
	s->frames = tool_alloc(count * sizeof(*s->frames));
	s->frame_count = count;
	for (uint32_t i = 0; i < count; i++) {
		s->frames[i].frame = all[i];
	}
	free(all);
}

static uint32_t frame_index(const struct symbols *s, uint64_t frame)
{
	uint32_t low = 0;
	uint32_t high = s->frame_count;

	while (low + 1 < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->frames[middle].frame <= frame) {
			low = middle;
		} else {
			high = middle;
		}
	}
	return low;
}

static void frames_resolve(
	struct symbols *s, const struct trace_info *info, bool lines)
{
	struct object_files object;
	uint32_t open = UINT32_MAX;

	for (uint32_t i = 0; i < s->frame_count; i++) {
		uint32_t number = frame_object(s->frames[i].frame);

		meter_show("looking up symbols", i, s->frame_count);
		if (s->frames[i].frame == FRAME_LEFT_OUT) {
			s->frames[i].first = s->list_count;
			s->frames[i].count = 1;
			list_add(s, 0);
			continue;
		}
		if (number != open) {
			if (open != UINT32_MAX) {
				object_close(&object);
			}
			open = number;
			object_open(s, info, number, lines, &object);
		}
		frame_resolve(s, &s->frames[i], &object);
	}
	if (open != UINT32_MAX) {
		object_close(&object);
	}
	meter_clear();
}

void symbols_init(struct symbols *s, const struct stacktrie *trie,
	const struct trace_info *info, bool lines)
{
	memset(s, 0, sizeof(*s));
	s->place_room = 1024;
	s->places = tool_alloc(s->place_room / 2 * sizeof(*s->places));
	s->place_map = tool_alloc(s->place_room * sizeof(*s->place_map));
	s->places[0].function =
		strpool_add(&s->pool, "[deeper frames left out]");
	s->place_count = 1;
	s->object_count = info->object_count;
	s->status = tool_alloc(info->object_count * sizeof(*s->status));
	s->debug_paths =
		tool_alloc(info->object_count * sizeof(*s->debug_paths));
	for (uint32_t i = 0; i < info->object_count; i++) {
		s->status[i] = DEBUG_VIRTUAL; /* no frame lies in it */
	}
	frames_collect(s, trie);
	frames_resolve(s, info, lines);
	s->nodes = tool_alloc(trie->count * sizeof(*s->nodes));
	for (uint32_t i = 1; i < trie->count; i++) {
		s->nodes[i] = frame_index(s, trie->nodes[i].frame);
	}
}

void symbols_fini(struct symbols *s)
{
	free(s->places);
	free(s->place_map);
	free(s->list);
	free(s->frames);
	free(s->nodes);
	free(s->status);
	for (uint32_t i = 0; i < s->object_count; i++) {
		free(s->debug_paths[i]);
	}
	free(s->debug_paths);
	strpool_fini(&s->pool);
}

int symbols_warn(const struct symbols *s, const struct trace_info *info)
{
	int lines = 0;

	for (uint32_t i = 0; i < info->object_count; i++) {
		if (s->status[i] == DEBUG_CHANGED) {
			tool_error("warning: %s is not the file that was "
				   "traced (its build-id differs); no names "
				   "from it",
				info->objects[i].path);
			lines++;
		} else if (s->status[i] == DEBUG_MISSING) {
			tool_error("warning: %s is not there any more; no "
				   "names from it",
				info->objects[i].path);
			lines++;
		}
	}
	return lines;
}
