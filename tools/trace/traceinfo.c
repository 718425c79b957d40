/* SPDX-License-Identifier: MIT */
/*
 * traceinfo.c - INFO records into tables.
 */
#include "traceinfo.h"

#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* Room for one more in an array whose size doubles. */
#define GROW(array, count)                                                     \
	do {                                                                   \
		if (((count) & ((count)-1)) == 0) {                            \
			(array) = tool_realloc(                                \
				(array), ((count) ? 2 * (size_t)(count) : 1) * \
						 sizeof(*(array)));            \
		}                                                              \
	} while (0)

static char *text_copy(const void *bytes, size_t length)
{
	char *text = tool_alloc(length + 1);

	memcpy(text, bytes, length);
	return text;
}

/* Arguments that end with NUL, as one line. */
static char *arguments_join(const char *bytes, size_t length)
{
	char *text = text_copy(bytes, length);

	for (size_t i = 0; i + 1 < length; i++) {
		if (text[i] == '\0') {
			text[i] = ' ';
		}
	}
	return text;
}

static void take_text(
	struct trace_info *info, const void *record, uint32_t length)
{
	struct amux_trace_info_text text;
	const char *bytes = (const char *)record + sizeof(text);
	char **place;

	memcpy(&text, record, sizeof(text));
	if (text.length > length - sizeof(text) || text.key == 0 ||
		text.key > AMUX_TRACE_TEXT_PARENT) {
		return;
	}
	place = text.key == AMUX_TRACE_TEXT_CMDLINE ? &info->cmdline
						    : &info->texts[text.key];
	free(*place);
	*place = text.key == AMUX_TRACE_TEXT_CMDLINE ||
				 text.key == AMUX_TRACE_TEXT_OPTIONS
			 ? arguments_join(bytes, text.length)
			 : text_copy(bytes, text.length);
}

static uint32_t object_find(struct trace_info *info,
	const struct amux_trace_info_load *load, const char *path,
	const uint8_t *build_id)
{
	struct trace_object *object;

	for (uint32_t i = 0; i < info->object_count; i++) {
		object = &info->objects[i];
		if (object->build_id_length == load->build_id_length &&
			memcmp(object->build_id, build_id,
				load->build_id_length) == 0 &&
			strlen(object->path) == load->path_length &&
			memcmp(object->path, path, load->path_length) == 0) {
			return i;
		}
	}
	GROW(info->objects, info->object_count);
	object = &info->objects[info->object_count];
	memset(object, 0, sizeof(*object));
	object->path = text_copy(path, load->path_length);
	memcpy(object->build_id, build_id, load->build_id_length);
	object->build_id_length = load->build_id_length;
	object->start = load->start;
	object->end = load->end;
	object->bias = load->bias;
	return info->object_count++;
}

static void take_load(
	struct trace_info *info, const uint8_t *record, uint32_t length)
{
	struct amux_trace_info_load load;
	uint64_t need;
	const uint8_t *segments = record + sizeof(load);
	uint32_t object;

	memcpy(&load, record, sizeof(load));
	need = sizeof(load) +
	       (uint64_t)load.segments * sizeof(struct amux_trace_segment) +
	       load.build_id_length + load.path_length;
	if (need > length || load.build_id_length > BUILD_ID_MAX) {
		return;
	}
	record = segments + load.segments * sizeof(struct amux_trace_segment);
	object = object_find(info, &load,
		(const char *)record + load.build_id_length, record);
	for (uint32_t i = 0; i < load.segments; i++) {
		struct amux_trace_segment s;

		memcpy(&s, segments + i * sizeof(s), sizeof(s));
		if (s.flags & 1) { /* PF_X */
			info->objects[object].offset = s.offset;
			break;
		}
	}
	GROW(info->modules, info->module_count);
	info->modules[info->module_count++] = (struct trace_module){
		.id = load.module,
		.object = object,
		.from = load.epoch,
		.until = EPOCH_NEVER,
		.start = load.start,
		.end = load.end,
		.bias = load.bias,
	};
}

static void take_unload(struct trace_info *info, const void *record)
{
	struct amux_trace_info_unload unload;

	memcpy(&unload, record, sizeof(unload));
	for (uint32_t i = 0; i < info->module_count; i++) {
		if (info->modules[i].id == unload.module) {
			info->modules[i].until = unload.epoch;
		}
	}
}

static struct trace_thread_info *thread_get(
	struct trace_info *info, uint32_t thread)
{
	for (uint32_t i = info->thread_count; i-- > 0;) {
		if (info->threads[i].thread == thread) {
			return &info->threads[i];
		}
	}
	GROW(info->threads, info->thread_count);
	info->threads[info->thread_count] =
		(struct trace_thread_info){.thread = thread};
	return &info->threads[info->thread_count++];
}

static void take_thread(struct trace_info *info, const void *record)
{
	struct amux_trace_info_thread thread;

	memcpy(&thread, record, sizeof(thread));
	thread_get(info, thread.thread)->tid = thread.tid;
}

static void take_name(
	struct trace_info *info, const void *record, uint32_t length)
{
	struct amux_trace_info_name name;
	struct trace_thread_info *thread;

	memcpy(&name, record, sizeof(name));
	if (name.length > length - sizeof(name)) {
		return;
	}
	thread = thread_get(info, name.thread);
	free(thread->name);
	thread->name =
		text_copy((const char *)record + sizeof(name), name.length);
}

static void take_fork(struct trace_info *info, const void *record)
{
	struct amux_trace_info_fork child;

	memcpy(&child, record, sizeof(child));
	GROW(info->children, info->child_count);
	info->children[info->child_count++] = child.child;
}

static void take_control(struct trace_info *info, const void *record)
{
	struct amux_trace_info_control control;

	memcpy(&control, record, sizeof(control));
	GROW(info->controls, info->control_count);
	info->controls[info->control_count++] =
		(struct trace_control){.ns = control.info.ns,
			.what = control.what,
			.number = control.number};
}

static const size_t record_sizes[] = {
	[AMUX_TRACE_INFO_TEXT] = sizeof(struct amux_trace_info_text),
	[AMUX_TRACE_INFO_LOAD] = sizeof(struct amux_trace_info_load),
	[AMUX_TRACE_INFO_UNLOAD] = sizeof(struct amux_trace_info_unload),
	[AMUX_TRACE_INFO_THREAD] = sizeof(struct amux_trace_info_thread),
	[AMUX_TRACE_INFO_NAME] = sizeof(struct amux_trace_info_name),
	[AMUX_TRACE_INFO_THREAD_END] = sizeof(struct amux_trace_info_thread),
	[AMUX_TRACE_INFO_FORK] = sizeof(struct amux_trace_info_fork),
	[AMUX_TRACE_INFO_CONTROL] = sizeof(struct amux_trace_info_control),
	[AMUX_TRACE_INFO_SUMMARY] = sizeof(struct amux_trace_info_summary),
};

static void take(struct trace_info *info, const uint8_t *record,
	const struct amux_trace_info *head)
{
	switch (head->type) {
	case AMUX_TRACE_INFO_TEXT:
		take_text(info, record, head->length);
		break;
	case AMUX_TRACE_INFO_LOAD:
		take_load(info, record, head->length);
		break;
	case AMUX_TRACE_INFO_UNLOAD:
		take_unload(info, record);
		break;
	case AMUX_TRACE_INFO_THREAD:
		take_thread(info, record);
		break;
	case AMUX_TRACE_INFO_NAME:
		take_name(info, record, head->length);
		break;
	case AMUX_TRACE_INFO_FORK:
		take_fork(info, record);
		break;
	case AMUX_TRACE_INFO_CONTROL:
		take_control(info, record);
		break;
	case AMUX_TRACE_INFO_SUMMARY:
		memcpy(&info->summary, record, sizeof(info->summary));
		break;
	default: /* THREAD_END: nobody asks */
		break;
	}
}

bool info_decode(struct trace_info *info, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	size_t left = size;

	while (left > 0) {
		struct amux_trace_info head;
		size_t step;

		if (left < sizeof(head)) {
			return false;
		}
		memcpy(&head, at, sizeof(head));
		if (head.length < sizeof(head) || head.length > left) {
			return false;
		}
		if (head.type > 0 &&
			head.type < sizeof(record_sizes) /
					    sizeof(record_sizes[0]) &&
			head.length >= record_sizes[head.type]) {
			take(info, at, &head);
		}
		step = ((size_t)head.length + 7) & ~(size_t)7;
		if (step > left) {
			step = left;
		}
		at += step;
		left -= step;
	}
	return true;
}

static int module_compare(const void *a, const void *b)
{
	const struct trace_module *x = a;
	const struct trace_module *y = b;

	if (x->start != y->start) {
		return x->start < y->start ? -1 : 1;
	}
	return x->from < y->from ? -1 : x->from > y->from;
}

static int thread_compare(const void *a, const void *b)
{
	const struct trace_thread_info *x = a;
	const struct trace_thread_info *y = b;

	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

void info_finish(struct trace_info *info)
{
	if (info->module_count > 0) {
		qsort(info->modules, info->module_count, sizeof(*info->modules),
			module_compare);
	}
	if (info->thread_count > 0) {
		qsort(info->threads, info->thread_count, sizeof(*info->threads),
			thread_compare);
	}
}

const struct trace_module *info_module(
	const struct trace_info *info, uint32_t epoch, uint64_t addr)
{
	uint32_t low = 0;
	uint32_t high = info->module_count;

	while (low < high) { /* the first that starts after addr */
		uint32_t middle = low + (high - low) / 2;

		if (info->modules[middle].start <= addr) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	/*
	 * At any one epoch ranges do not overlap, but those of different
	 * epochs may, in any way: go back to the first that fits.
	 */
	while (low-- > 0) {
		const struct trace_module *m = &info->modules[low];

		if (addr < m->end && m->from <= epoch && epoch < m->until) {
			return m;
		}
	}
	return NULL;
}

const struct trace_thread_info *info_thread(
	const struct trace_info *info, uint32_t thread)
{
	struct trace_thread_info key = {.thread = thread};

	if (info->thread_count == 0) {
		return NULL;
	}
	return bsearch(&key, info->threads, info->thread_count,
		sizeof(*info->threads), thread_compare);
}

void info_fini(struct trace_info *info)
{
	for (int i = 0; i <= AMUX_TRACE_TEXT_PARENT; i++) {
		free(info->texts[i]);
	}
	for (uint32_t i = 0; i < info->object_count; i++) {
		free(info->objects[i].path);
	}
	for (uint32_t i = 0; i < info->thread_count; i++) {
		free(info->threads[i].name);
	}
	free(info->cmdline);
	free(info->objects);
	free(info->modules);
	free(info->threads);
	free(info->controls);
	free(info->children);
	memset(info, 0, sizeof(*info));
}
