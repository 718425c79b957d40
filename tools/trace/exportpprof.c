/* SPDX-License-Identifier: MIT */
/*
 * exportpprof.c - pprof's profile format, as a gzip file: a location for each
 * frame of the trace, with its inlined calls as lines.
 *
 * All messages live in arrays of their own; protobuf-c wants arrays of pointers
 * beside them, which `pointers()` makes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "exportform.h"
#include "pprof.pb-c.h"
#include "tool.h"

enum { VALUES = 4 };

struct strings {
	const char **list;
	size_t count;
	size_t room;
	struct {
		const char *text;
		int64_t index;
	} * map; /* by pointer, open addressing */
	size_t map_room;
};

/* Texts are constants or of pools: equal ones are mostly one pointer. */
static int64_t string_index(struct strings *s, const char *text)
{
	size_t i;

	if (text == NULL || text[0] == '\0') {
		return 0;
	}
	i = ((uintptr_t)text * 0x9e3779b97f4a7c15u >> 20) & (s->map_room - 1);
	while (s->map[i].text != NULL && s->map[i].text != text) {
		i = (i + 1) & (s->map_room - 1);
	}
	if (s->map[i].text == NULL) {
		if (s->count == s->room) {
			s->room *= 2;
			s->list = tool_realloc(
				s->list, s->room * sizeof(*s->list));
		}
		s->map[i].text = text;
		s->map[i].index = (int64_t)s->count;
		s->list[s->count++] = text;
	}
	return s->map[i].index;
}

struct build {
	const struct view *view;
	Pprof__Profile profile;
	struct strings strings;
	Pprof__ValueType types[VALUES];
	Pprof__Mapping *mappings;
	char **build_ids;
	Pprof__Function *functions;
	Pprof__Location *locations;
	Pprof__Line *lines;
	Pprof__Line **line_pointers;
	Pprof__Sample *samples;
	uint64_t *location_ids;
	int64_t *values;
};

/* Pointers to `count` messages of `size` bytes each. */
static void *pointers(void *messages, size_t count, size_t size)
{
	char **list = tool_alloc(count * sizeof(*list));

	for (size_t i = 0; i < count; i++) {
		list[i] = (char *)messages + i * size;
	}
	return list;
}

static void strings_start(struct build *b)
{
	const struct view *view = b->view;
	struct strings *s = &b->strings;

	s->room = 1024;
	s->list = tool_alloc(s->room * sizeof(*s->list));
	s->list[s->count++] = "";
	s->map_room = 1024;
	while (s->map_room < 8 * ((size_t)view->symbols.place_count +
					 view->trace->info.object_count)) {
		s->map_room *= 2;
	}
	s->map = tool_alloc(s->map_room * sizeof(*s->map));
}

static void types_make(struct build *b)
{
	static const char *const names[VALUES][2] = {{"alloc_objects", "count"},
		{"alloc_space", "bytes"}, {"inuse_objects", "count"},
		{"inuse_space", "bytes"}};
	static const char count[] = "count";
	static const char bytes[] = "bytes";

	for (int i = 0; i < VALUES; i++) {
		pprof__value_type__init(&b->types[i]);
		b->types[i].type = string_index(&b->strings, names[i][0]);
		b->types[i].unit =
			string_index(&b->strings, i % 2 == 0 ? count : bytes);
	}
	b->profile.n_sample_type = VALUES;
	b->profile.sample_type =
		pointers(b->types, VALUES, sizeof(b->types[0]));
	b->profile.default_sample_type = b->types[3].type;
	b->profile.period_type = &b->types[1];
	b->profile.period = (int64_t)b->view->trace->header.interval;
	b->profile.time_nanos = (int64_t)b->view->trace->header.real_ns;
	b->profile.duration_nanos = (int64_t)b->view->trace->header.end_ns;
}

static char *hexadecimal(const uint8_t *bytes, size_t count)
{
	char *text = tool_alloc(2 * count + 1);

	for (size_t i = 0; i < count; i++) {
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	}
	return text;
}

/* pprof takes the first mapping for the program's. */
static void main_first(struct build *b)
{
	const struct trace_info *info = &b->view->trace->info;
	const char *exe = info->texts[AMUX_TRACE_TEXT_EXE];

	for (uint32_t i = 1; exe != NULL && i < info->object_count; i++) {
		if (strcmp(info->objects[i].path, exe) == 0) {
			Pprof__Mapping first = b->mappings[0];

			b->mappings[0] = b->mappings[i];
			b->mappings[i] = first;
			break;
		}
	}
}

static void mappings_make(struct build *b)
{
	const struct trace_info *info = &b->view->trace->info;

	b->mappings = tool_alloc(info->object_count * sizeof(*b->mappings));
	b->build_ids = tool_alloc(info->object_count * sizeof(*b->build_ids));
	for (uint32_t i = 0; i < info->object_count; i++) {
		const struct trace_object *object = &info->objects[i];
		Pprof__Mapping *m = &b->mappings[i];
		bool full = b->view->symbols.status[i] == DEBUG_FULL;

		pprof__mapping__init(m);
		b->build_ids[i] =
			hexadecimal(object->build_id, object->build_id_length);
		m->id = i + 1;
		m->memory_start = object->start;
		m->memory_limit = object->end;
		m->file_offset = object->offset;
		m->filename = string_index(&b->strings, object->path);
		m->build_id = string_index(&b->strings, b->build_ids[i]);
		m->has_functions =
			full || b->view->symbols.status[i] == DEBUG_SYMBOLS;
		m->has_filenames = full;
		m->has_line_numbers = full;
		m->has_inline_frames = full;
	}
	main_first(b);
	b->profile.n_mapping = info->object_count;
	b->profile.mapping =
		pointers(b->mappings, info->object_count, sizeof(*b->mappings));
}

/* A function for each first place of one; ids are place indices plus 1. */
static void functions_make(struct build *b)
{
	const struct symbols *s = &b->view->symbols;
	Pprof__Function **list = tool_alloc(s->place_count * sizeof(*list));
	size_t count = 0;

	b->functions = tool_alloc(s->place_count * sizeof(*b->functions));
	for (uint32_t i = 0; i < s->place_count; i++) {
		Pprof__Function *f = &b->functions[i];

		if (b->view->function_of[i] != i) {
			continue;
		}
		pprof__function__init(f);
		f->id = i + 1;
		f->name = string_index(&b->strings, s->places[i].function);
		f->system_name = string_index(&b->strings,
			s->places[i].symbol != NULL ? s->places[i].symbol
						    : s->places[i].function);
		f->filename = string_index(&b->strings, s->places[i].file);
		list[count++] = f;
	}
	b->profile.n_function = count;
	b->profile.function = list;
}

static uint64_t frame_run_time(const struct view *view, uint64_t frame)
{
	uint32_t object = frame_object(frame);

	return frame_addr(frame) + 1 +
	       (object > 0 ? view->trace->info.objects[object - 1].bias : 0);
}

static void locations_make(struct build *b)
{
	const struct symbols *s = &b->view->symbols;

	b->locations = tool_alloc(s->frame_count * sizeof(*b->locations));
	b->lines = tool_alloc(s->list_count * sizeof(*b->lines));
	b->line_pointers = pointers(b->lines, s->list_count, sizeof(*b->lines));
	for (uint32_t i = 0; i < s->frame_count; i++) {
		const struct frame_places *f = &s->frames[i];
		Pprof__Location *l = &b->locations[i];

		pprof__location__init(l);
		l->id = i + 1;
		l->mapping_id = frame_object(f->frame);
		l->address = frame_run_time(b->view, f->frame);
		l->n_line = f->count;
		l->line = b->line_pointers + f->first;
		for (uint32_t j = 0; j < f->count; j++) {
			uint32_t place = s->list[f->first + j];
			Pprof__Line *line = &b->lines[f->first + j];

			pprof__line__init(line);
			line->function_id = b->view->function_of[place] + 1;
			line->line = s->places[place].line;
		}
	}
	b->profile.n_location = s->frame_count;
	b->profile.location =
		pointers(b->locations, s->frame_count, sizeof(*b->locations));
}

static uint32_t depth_of(const struct stacktrie *trie, uint32_t node)
{
	uint32_t depth = 0;

	for (; node != 0; node = trie->nodes[node].parent) {
		depth++;
	}
	return depth;
}

static void samples_make(struct build *b)
{
	const struct view *view = b->view;
	const struct stacktrie *trie = &view->trace->trie;
	const struct site *sites = view->trace->account.sites;
	size_t frames = 0;
	uint64_t *at;

	for (uint32_t i = 0; i < view->stack_count; i++) {
		frames += depth_of(trie, sites[view->stacks[i].site].node);
	}
	b->samples = tool_alloc(view->stack_count * sizeof(*b->samples));
	b->location_ids = tool_alloc(frames * sizeof(*b->location_ids));
	b->values = tool_alloc(view->stack_count * VALUES * sizeof(*b->values));
	at = b->location_ids;
	for (uint32_t i = 0; i < view->stack_count; i++) {
		const struct cost *cost = &view->stacks[i].cost;
		uint32_t node = sites[view->stacks[i].site].node;
		Pprof__Sample *sample = &b->samples[i];
		int64_t *values = &b->values[(size_t)i * VALUES];

		pprof__sample__init(sample);
		sample->location_id = at;
		for (; node != 0; node = trie->nodes[node].parent) {
			*at++ = view->symbols.nodes[node] + 1;
		}
		sample->n_location_id = (size_t)(at - sample->location_id);
		values[0] = (int64_t)cost->metric[METRIC_CALLS];
		values[1] = (int64_t)cost->metric[METRIC_BYTES];
		values[2] = (int64_t)cost->leaked_calls;
		values[3] = (int64_t)cost->metric[METRIC_LEAKED];
		sample->n_value = VALUES;
		sample->value = values;
	}
	b->profile.n_sample = view->stack_count;
	b->profile.sample =
		pointers(b->samples, view->stack_count, sizeof(*b->samples));
}

static bool write_gzip(FILE *out, const uint8_t *bytes, size_t size)
{
	int fd = dup(fileno(out));
	gzFile file = fd >= 0 ? gzdopen(fd, "wb") : NULL;
	bool good = file != NULL;

	while (good && size > 0) {
		unsigned part = size < 1u << 30 ? (unsigned)size : 1u << 30;

		good = gzwrite(file, bytes, part) == (int)part;
		bytes += part;
		size -= part;
	}
	if (file == NULL || gzclose(file) != Z_OK || !good) {
		tool_perror("cannot write the profile");
		return false;
	}
	return true;
}

static void build_free(struct build *b)
{
	for (uint32_t i = 0; i < b->view->trace->info.object_count; i++) {
		free(b->build_ids[i]);
	}
	free(b->build_ids);
	free(b->strings.list);
	free(b->strings.map);
	free(b->profile.sample_type);
	free(b->mappings);
	free(b->profile.mapping);
	free(b->functions);
	free(b->profile.function);
	free(b->locations);
	free(b->profile.location);
	free(b->lines);
	free(b->line_pointers);
	free(b->samples);
	free(b->profile.sample);
	free(b->location_ids);
	free(b->values);
}

bool export_pprof(const struct export_request *request)
{
	struct build b = {.view = request->view};
	uint8_t *bytes;
	size_t size;
	bool good;

	pprof__profile__init(&b.profile);
	strings_start(&b);
	types_make(&b);
	mappings_make(&b);
	functions_make(&b);
	locations_make(&b);
	samples_make(&b);
	b.profile.n_string_table = b.strings.count;
	b.profile.string_table = (char **)b.strings.list;
	bytes = tool_alloc(pprof__profile__get_packed_size(&b.profile));
	size = pprof__profile__pack(&b.profile, bytes);
	good = write_gzip(request->out, bytes, size);
	free(bytes);
	build_free(&b);
	return good;
}
