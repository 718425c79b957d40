/* SPDX-License-Identifier: MIT */
/*
 * tracewrite.c - see tracewrite.h. A block is written when it is full, or at
 * the end.
 */
#include "tracewrite.h"

#include <stdlib.h>
#include <string.h>

static void must(bool good)
{
	if (!good) {
		perror("tracewrite");
		abort();
	}
}

static struct amux_trace_block *block_create(
	struct tracewrite *w, unsigned kind, uint32_t lane, uint32_t sequence)
{
	struct amux_trace_block *block =
		aligned_alloc(64, w->header.block_size);

	must(block != NULL);
	memset(block, 0, w->header.block_size);
	block->magic = AMUX_TRACE_BLOCK_MAGIC;
	block->kind = (uint8_t)kind;
	block->header_size = sizeof(*block);
	block->lane = lane;
	block->sequence = sequence;
	block->start_ns = w->ns;
	return block;
}

static void block_write(struct tracewrite *w, struct amux_trace_block *block)
{
	block->flags = AMUX_TRACE_CLOSED;
	block->end_ns = w->ns;
	block->order = w->header.blocks++;
	must(fwrite(block, w->header.block_size, 1, w->file) == 1);
	free(block);
}

void tracewrite_begin(
	struct tracewrite *w, const char *path, uint32_t mode, uint32_t size)
{
	void *first;

	memset(w, 0, sizeof(*w));
	memcpy(w->header.magic, AMUX_TRACE_MAGIC, sizeof(w->header.magic));
	w->header.major = AMUX_TRACE_VERSION_MAJOR;
	w->header.minor = AMUX_TRACE_VERSION_MINOR;
	w->header.header_size = sizeof(w->header);
	w->header.block_size = size;
	w->header.mode = mode;
	w->header.machine = 62;
	w->header.page_size = 4096;
	w->header.pid = 1234;
	w->header.site_size = sizeof(struct amux_trace_site);
	w->header.features = AMUX_TRACE_F_USABLE | AMUX_TRACE_F_STARTUP;
	w->header.real_ns = 1700000000000000000;
	w->header.tick_ns = 4000000;
	w->header.interval = mode == AMUX_TRACE_SAMPLE ? 524288 : 0;
	w->header.blocks = 1;
	w->file = fopen(path, "w+");
	must(w->file != NULL);
	first = calloc(1, size);
	must(first != NULL && fwrite(first, size, 1, w->file) == 1);
	free(first);
}

void tracewrite_stack(struct tracewrite *w, uint32_t id, uint32_t epoch,
	const uint64_t *frames, size_t count)
{
	uint8_t *start;
	uint64_t used;

	if (w->stacks != NULL &&
		w->stacks->committed + sizeof(*w->stacks) + 10 * count + 25 >
			w->header.block_size) {
		block_write(w, w->stacks);
		w->stacks = NULL;
	}
	if (w->stacks == NULL) {
		w->stacks = block_create(
			w, AMUX_TRACE_STACKS, 0, w->stack_sequence++);
		w->previous_count = 0;
	}
	start = (uint8_t *)(w->stacks + 1);
	used = w->stacks->committed;
	w->stacks->committed =
		(uint64_t)(encode_stack(start + used, id, epoch, frames, count,
				   w->previous, w->previous_count) -
			   start);
	must(count <= sizeof(w->previous) / sizeof(w->previous[0]));
	memcpy(w->previous, frames, count * sizeof(*frames));
	w->previous_count = count;
}

void tracewrite_info(struct tracewrite *w, const void *record, size_t size)
{
	struct amux_trace_info head;
	size_t padded = (size + 7) & ~(size_t)7;
	uint8_t *at;

	if (w->info != NULL && w->info->committed + padded + sizeof(*w->info) >
				       w->header.block_size) {
		block_write(w, w->info);
		w->info = NULL;
	}
	if (w->info == NULL) {
		w->info =
			block_create(w, AMUX_TRACE_INFO, 0, w->info_sequence++);
	}
	at = (uint8_t *)(w->info + 1) + w->info->committed;
	memcpy(at, record, size);
	memcpy(&head, record, sizeof(head));
	head.length = (uint32_t)size;
	head.ns = w->ns;
	memcpy(at, &head, sizeof(head));
	w->info->committed += padded;
}

void tracewrite_text(struct tracewrite *w, uint32_t key, const char *text)
{
	uint8_t record[1024] = {0};
	struct amux_trace_info_text head = {.key = key,
		.info.type = AMUX_TRACE_INFO_TEXT,
		.length = (uint32_t)strlen(text)};

	must(sizeof(head) + head.length <= sizeof(record));
	memcpy(record, &head, sizeof(head));
	memcpy(record + sizeof(head), text, head.length);
	tracewrite_info(w, record, sizeof(head) + head.length);
}

void tracewrite_load(struct tracewrite *w, uint32_t module, uint32_t epoch,
	uint64_t bias, uint64_t start, uint64_t end, const char *path,
	const void *build_id, size_t build_id_length)
{
	uint8_t record[2048] = {0};
	struct amux_trace_segment segment = {
		.start = start, .end = end, .flags = 5};
	struct amux_trace_info_load head = {.info.type = AMUX_TRACE_INFO_LOAD,
		.module = module,
		.epoch = epoch,
		.bias = bias,
		.start = start,
		.end = end,
		.segments = 1,
		.build_id_length = (uint32_t)build_id_length,
		.path_length = (uint32_t)strlen(path)};
	uint8_t *at = record;

	must(build_id_length + head.path_length < 1800);
	at = (uint8_t *)memcpy(at, &head, sizeof(head)) + sizeof(head);
	at = (uint8_t *)memcpy(at, &segment, sizeof(segment)) + sizeof(segment);
	if (build_id_length > 0) {
		at = (uint8_t *)memcpy(at, build_id, build_id_length) +
		     build_id_length;
	}
	memcpy(at, path, head.path_length);
	tracewrite_info(w, record, (size_t)(at - record) + head.path_length);
}

void tracewrite_thread(struct tracewrite *w, uint32_t thread, const char *name)
{
	struct amux_trace_info_thread head = {
		.info.type = AMUX_TRACE_INFO_THREAD,
		.thread = thread,
		.tid = 1233 + thread};
	uint8_t record[256] = {0};
	struct amux_trace_info_name named = {.info.type = AMUX_TRACE_INFO_NAME,
		.thread = thread,
		.length = (uint32_t)strlen(name)};

	tracewrite_info(w, &head, sizeof(head));
	must(named.length < 200);
	memcpy(record, &named, sizeof(named));
	memcpy(record + sizeof(named), name, named.length);
	tracewrite_info(w, record, sizeof(named) + named.length);
}

void tracewrite_flush(struct tracewrite *w, int lane)
{
	if (w->lanes[lane].block != NULL) {
		w->lanes[lane].block->events = w->lanes[lane].encoder.events;
		block_write(w, w->lanes[lane].block);
		w->lanes[lane].block = NULL;
		w->lanes[lane].encoder.block = NULL;
	}
}

static struct encoder *encoder_get(struct tracewrite *w, int lane)
{
	struct encoder *e = &w->lanes[lane].encoder;

	must(lane >= 0 && lane < TRACEWRITE_LANES);
	if (w->lanes[lane].block != NULL && !encode_has_room(e)) {
		tracewrite_flush(w, lane);
	}
	if (w->lanes[lane].block == NULL) {
		w->lanes[lane].block = block_create(w, AMUX_TRACE_EVENTS,
			(uint32_t)lane + 1, w->lanes[lane].sequence++);
		w->lanes[lane].block->thread = (uint32_t)lane + 1;
		encode_begin(e, w->lanes[lane].block, w->header.block_size);
	}
	/* As the shim does: at most once a tick. */
	if (w->ns / w->header.tick_ns != e->time / w->header.tick_ns) {
		encode_time(e, w->ns / w->header.tick_ns * w->header.tick_ns);
	}
	return e;
}

void tracewrite_alloc(struct tracewrite *w, int lane, unsigned how,
	uint32_t stack, uint64_t size, uint32_t excess, uint64_t addr)
{
	encode_alloc(encoder_get(w, lane), how, stack, size, excess, addr);
}

void tracewrite_free(struct tracewrite *w, int lane, uint64_t addr)
{
	encode_free(encoder_get(w, lane), AMUX_TRACE_OP_FREE, addr);
}

void tracewrite_realloc(struct tracewrite *w, int lane, uint64_t addr)
{
	encode_free(encoder_get(w, lane), AMUX_TRACE_OP_REALLOC, addr);
}

void tracewrite_realloc_fail(struct tracewrite *w, int lane)
{
	encode_realloc_fail(encoder_get(w, lane));
}

void tracewrite_failed(
	struct tracewrite *w, int lane, uint32_t stack, uint64_t size)
{
	encode_failed(encoder_get(w, lane), AMUX_TRACE_MALLOC, stack, size);
}

void tracewrite_sites(struct tracewrite *w, uint32_t lane,
	const struct amux_trace_site *sites, size_t count)
{
	struct amux_trace_block *block =
		block_create(w, AMUX_TRACE_SITES, lane, 0);

	block->committed = count * sizeof(*sites);
	must(sizeof(*block) + block->committed <= w->header.block_size);
	memcpy(block + 1, sites, count * sizeof(*sites));
	block_write(w, block);
}

void tracewrite_end(struct tracewrite *w, uint32_t state)
{
	for (int i = 0; i < TRACEWRITE_LANES; i++) {
		tracewrite_flush(w, i);
	}
	if (w->stacks != NULL) {
		block_write(w, w->stacks);
	}
	if (w->info != NULL) {
		block_write(w, w->info);
	}
	w->header.state = state;
	w->header.end_ns = state == AMUX_TRACE_RUNNING ? 0 : w->ns;
	must(fseek(w->file, 0, SEEK_SET) == 0 &&
		fwrite(&w->header, sizeof(w->header), 1, w->file) == 1 &&
		fclose(w->file) == 0);
}
