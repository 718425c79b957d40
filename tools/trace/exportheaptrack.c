/* SPDX-License-Identifier: MIT */
/*
 * exportheaptrack.c - heaptrack's interpreted format, version 3: every event
 * once more, so that its tools count for themselves.
 *
 * Numbers are hexadecimal. Lines: "s LENGTH TEXT" a string, numbered from 1;
 * "i IP MODULE [FUNCTION FILE LINE]..." an address with its inlined calls;
 * "t IP PARENT" a node of the tree of stacks; "a SIZE TRACE" what is allocated,
 * numbered from 0; "+ A" and "- A" an allocation and its end; "c MS" the time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exportform.h"
#include "tool.h"

struct kind {
	uint64_t size;
	uint32_t trace;
	uint32_t number; /* plus 1; 0: free entry */
};

struct writer {
	FILE *out;
	const struct view *view;
	struct kind *kinds; /* open addressing */
	size_t kind_room;
	uint32_t kind_count;
	uint64_t ms;
	const char **texts; /* known strings, by pointer: open addressing */
	uint32_t *text_numbers;
	size_t text_room;
	uint32_t text_count;
};

/* Texts come from pools, so that equal ones are one pointer. */
static uint32_t text_number(struct writer *w, const char *text)
{
	size_t i;

	if (text == NULL) {
		return 0;
	}
	i = ((uintptr_t)text * 0x9e3779b97f4a7c15u >> 20) & (w->text_room - 1);
	while (w->texts[i] != NULL && w->texts[i] != text) {
		i = (i + 1) & (w->text_room - 1);
	}
	if (w->texts[i] == NULL) {
		w->texts[i] = text;
		w->text_numbers[i] = ++w->text_count;
		fprintf(w->out, "s %zx %s\n", strlen(text), text);
	}
	return w->text_numbers[i];
}

static const char *object_path(const struct view *view, uint64_t frame)
{
	uint32_t object = frame_object(frame);

	return object > 0 ? view->trace->info.objects[object - 1].path : NULL;
}

/* One "i" line a frame; its number is that of the frame plus 1. */
static void write_frames(struct writer *w)
{
	const struct symbols *s = &w->view->symbols;

	for (uint32_t i = 0; i < s->frame_count; i++) {
		const struct frame_places *f = &s->frames[i];
		uint32_t module =
			text_number(w, object_path(w->view, f->frame));
		bool named = false;

		for (uint32_t j = 0; j < f->count; j++) {
			const struct place *p =
				&s->places[s->list[f->first + j]];

			text_number(w, p->function);
			text_number(w, p->file);
			named |= p->symbol != NULL || f->frame == 0;
		}
		fprintf(w->out, "i %" PRIx64 " %x", frame_addr(f->frame) + 1,
			module);
		for (uint32_t j = 0; named && j < f->count; j++) {
			const struct place *p =
				&s->places[s->list[f->first + j]];

			fprintf(w->out, " %x", text_number(w, p->function));
			if (p->file != NULL || j + 1 < f->count) {
				fprintf(w->out, " %x %x",
					text_number(w, p->file), p->line);
			}
		}
		fputc('\n', w->out);
	}
}

static void write_nodes(struct writer *w)
{
	const struct stacktrie *trie = &w->view->trace->trie;

	/* Heaptrack's numbers start at 1, as those of our nodes. */
	for (uint32_t i = 1; i < trie->count; i++) {
		fprintf(w->out, "t %x %x\n", w->view->symbols.nodes[i] + 1,
			trie->nodes[i].parent);
	}
}

static struct kind *kind_slot(
	const struct writer *w, uint64_t size, uint32_t trace)
{
	uint64_t h = (size * 0x9e3779b97f4a7c15u ^ trace) * 0xc2b2ae3d27d4eb4fu;
	size_t i = (size_t)(h >> 24) & (w->kind_room - 1);

	while (w->kinds[i].number != 0 &&
		(w->kinds[i].size != size || w->kinds[i].trace != trace)) {
		i = (i + 1) & (w->kind_room - 1);
	}
	return &w->kinds[i];
}

/* The number of "size bytes from this stack", written if it is new. */
static uint32_t kind_number(struct writer *w, uint32_t site, uint64_t size)
{
	uint32_t trace = w->view->trace->account.sites[site].node;
	struct kind *slot = kind_slot(w, size, trace);

	if (slot->number != 0) {
		return slot->number - 1;
	}
	if (2 * (size_t)w->kind_count >= w->kind_room) {
		struct kind *old = w->kinds;
		size_t room = w->kind_room;

		w->kind_room *= 2;
		w->kinds = tool_alloc(w->kind_room * sizeof(*w->kinds));
		for (size_t i = 0; i < room; i++) {
			if (old[i].number != 0) {
				*kind_slot(w, old[i].size, old[i].trace) =
					old[i];
			}
		}
		free(old);
		slot = kind_slot(w, size, trace);
	}
	*slot = (struct kind){size, trace, ++w->kind_count};
	fprintf(w->out, "a %" PRIx64 " %x\n", size, trace);
	return w->kind_count - 1;
}

static void write_time(struct writer *w, uint64_t ns)
{
	if (ns / 1000000 > w->ms) {
		w->ms = ns / 1000000;
		fprintf(w->out, "c %" PRIx64 "\n", w->ms);
	}
}

static void observe_alloc(void *data, uint32_t site, uint64_t size, uint64_t ns)
{
	struct writer *w = data;
	uint32_t kind = kind_number(w, site, size);

	write_time(w, ns);
	fprintf(w->out, "+ %x\n", kind);
}

static void observe_end(void *data, uint32_t site, uint64_t size, uint64_t ns)
{
	struct writer *w = data;
	uint32_t kind = kind_number(w, site, size);

	write_time(w, ns);
	fprintf(w->out, "- %x\n", kind);
}

bool export_heaptrack(const struct export_request *request)
{
	const struct view *view = request->view;
	const struct trace *trace = view->trace;
	struct writer w = {.out = request->out,
		.view = view,
		.kind_room = 1024,
		.text_room = 1024};
	struct observer observer = {observe_alloc, observe_end, &w, NULL};
	const char *exe = trace->info.texts[AMUX_TRACE_TEXT_EXE];
	bool good;

	while (w.text_room < 4 * ((size_t)view->symbols.place_count +
					 trace->info.object_count + 1)) {
		w.text_room *= 2;
	}
	w.kinds = tool_alloc(w.kind_room * sizeof(*w.kinds));
	w.texts = tool_alloc(w.text_room * sizeof(*w.texts));
	w.text_numbers = tool_alloc(w.text_room * sizeof(*w.text_numbers));
	fprintf(w.out, "v 10400 3\nX %s\nI %x 0\n",
		trace->info.cmdline ? trace->info.cmdline
		: exe               ? exe
				    : "unknown",
		trace->header.page_size > 0 ? trace->header.page_size : 4096);
	text_number(&w, exe);
	write_frames(&w);
	write_nodes(&w);
	good = trace_replay(trace, &observer);
	write_time(&w, trace->header.end_ns);
	free(w.kinds);
	free(w.texts);
	free(w.text_numbers);
	return good;
}
