/* SPDX-License-Identifier: MIT */
/*
 * traceload.c - from the file to the account, in three passes: INFO, because
 * stacks need the modules; STACKS; then EVENTS or SITES.
 */
#include "traceload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"
#include "meter.h"
#include "profileread.h"
#include "tool.h"

static void blocks_decode(
	struct trace *trace, struct tracefile *file, unsigned kind)
{
	size_t size = file->header.block_size;
	uint8_t *buffer = tool_alloc(size);

	for (size_t i = 0; i < file->block_count; i++) {
		const struct trace_block *block = &file->blocks[i];
		const uint8_t *bytes = buffer + sizeof(struct amux_trace_block);
		size_t used = block->committed & 0xffffffff;

		if (block->kind != kind) {
			continue;
		}
		meter_show("reading", i, file->block_count);
		if (!tracefile_read(file, i, buffer)) {
			file->damage.blocks++;
		} else if (kind == AMUX_TRACE_INFO) {
			file->damage.records +=
				!info_decode(&trace->info, bytes, used);
		} else {
			file->damage.stacks += !stacktrie_decode(
				&trace->trie, &trace->info, bytes, used);
		}
	}
	free(buffer);
}

/* Sites of several stack ids with the same frames become one. */
static void sites_resolve(struct trace *trace)
{
	struct account *a = &trace->account;
	uint32_t *first = tool_alloc(trace->trie.count * sizeof(*first));

	for (uint32_t i = 1; i < a->site_count; i++) {
		struct site *site = &a->sites[i];

		site->node = stacktrie_node(&trace->trie, site->stack);
		if (first[site->node] != 0) {
			site->same_node = first[site->node];
		} else {
			first[site->node] = i;
		}
	}
	free(first);
}

bool trace_load(struct trace *trace, const char *path)
{
	struct tracefile file;

	memset(trace, 0, sizeof(*trace));
	trace->path = path;
	if (!tracefile_open(&file, path)) {
		return false;
	}
	stacktrie_init(&trace->trie);
	blocks_decode(trace, &file, AMUX_TRACE_INFO);
	info_finish(&trace->info);
	blocks_decode(trace, &file, AMUX_TRACE_STACKS);
	account_init(&trace->account, file.header.tick_ns,
		file.header.mode == AMUX_TRACE_SAMPLE ? file.header.interval
						      : 0);
	trace->lost_events = file.header.lost_events;
	trace->lost_bytes = file.header.lost_bytes;
	if (file.header.mode == AMUX_TRACE_PROFILE) {
		profile_read(&file, &trace->account);
	} else {
		uint64_t lost = merge_events(&file, &trace->account);

		account_finish(&trace->account);
		if (lost > trace->lost_events) {
			trace->lost_events = lost;
		}
	}
	sites_resolve(trace);
	trace->header = file.header;
	trace->damage = file.damage;
	tracefile_close(&file);
	meter_clear();
	return true;
}

bool trace_has_events(const struct trace *trace)
{
	return trace->header.mode != AMUX_TRACE_PROFILE;
}

bool trace_replay(const struct trace *trace, const struct observer *observer)
{
	struct tracefile file;
	struct account account;

	if (!tracefile_open(&file, trace->path)) {
		return false;
	}
	account_init(&account, file.header.tick_ns, 0);
	account.observer = observer;
	merge_events(&file, &account);
	account_fini(&account);
	tracefile_close(&file);
	meter_clear();
	return true;
}

int trace_warn(const struct trace *trace)
{
	char *damage = damage_text(&trace->damage);

	if (damage != NULL) {
		tool_error("warning: %s is damaged (%s); what follows is from "
			   "the rest",
			trace->path, damage);
		free(damage);
	}
	if (trace->lost_events > 0) {
		tool_error("warning: %s lacks %" PRIu64
			   " events that found no room when it was written",
			trace->path, trace->lost_events);
	}
	if (trace->header.state == AMUX_TRACE_ERROR) {
		tool_error("warning: %s could not grow any more (%s); it ends "
			   "before the program did",
			trace->path, strerror((int)trace->header.error));
	} else if (trace->header.state == AMUX_TRACE_LIMIT) {
		tool_error("note: %s reached its size limit; it ends before "
			   "the program did",
			trace->path);
	}
	return damage_any(&trace->damage) ? TOOL_FAILED : TOOL_OK;
}

void trace_unload(struct trace *trace)
{
	info_fini(&trace->info);
	stacktrie_fini(&trace->trie);
	account_fini(&trace->account);
}
