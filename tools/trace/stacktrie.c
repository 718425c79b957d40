/* SPDX-License-Identifier: MIT */
/*
 * stacktrie.c - STACKS blocks into one tree.
 */
#include "stacktrie.h"

#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "varint.h"

/* A deeper stack is damage: the writer keeps some hundreds of frames. */
#define STACK_MAX 65536

void stacktrie_init(struct stacktrie *trie)
{
	memset(trie, 0, sizeof(*trie));
	trie->bucket_count = 1024;
	trie->buckets = tool_alloc(trie->bucket_count * sizeof(uint32_t));
	trie->nodes = tool_alloc(trie->bucket_count * sizeof(*trie->nodes));
	trie->count = 1;
	trie->id_room = 1024;
	trie->ids = tool_alloc(trie->id_room * sizeof(*trie->ids));
}

void stacktrie_fini(struct stacktrie *trie)
{
	free(trie->nodes);
	free(trie->buckets);
	free(trie->ids);
	memset(trie, 0, sizeof(*trie));
}

static uint32_t mix(uint64_t v)
{
	v *= 0x9e3779b97f4a7c15u;
	return (uint32_t)(v >> 32);
}

static uint32_t *bucket_of(struct stacktrie *trie, const struct stack_node *n)
{
	uint32_t hash = mix(n->frame ^ mix(n->parent));

	return &trie->buckets[hash & (trie->bucket_count - 1)];
}

/* As many buckets as nodes have room. */
static void trie_grow(struct stacktrie *trie)
{
	trie->bucket_count *= 2;
	trie->nodes = tool_realloc(
		trie->nodes, (size_t)trie->bucket_count * sizeof(*trie->nodes));
	free(trie->buckets);
	trie->buckets =
		tool_alloc((size_t)trie->bucket_count * sizeof(uint32_t));
	for (uint32_t i = 1; i < trie->count; i++) {
		uint32_t *bucket = bucket_of(trie, &trie->nodes[i]);

		trie->nodes[i].next = *bucket;
		*bucket = i;
	}
}

uint32_t stacktrie_child(
	struct stacktrie *trie, uint32_t parent, uint64_t frame)
{
	struct stack_node node = {.frame = frame, .parent = parent};
	uint32_t *bucket = bucket_of(trie, &node);

	for (uint32_t i = *bucket; i != 0; i = trie->nodes[i].next) {
		if (trie->nodes[i].frame == frame &&
			trie->nodes[i].parent == parent) {
			return i;
		}
	}
	if (trie->count == trie->bucket_count) {
		trie_grow(trie);
		bucket = bucket_of(trie, &node);
	}
	node.next = *bucket;
	trie->nodes[trie->count] = node;
	*bucket = trie->count;
	return trie->count++;
}

static uint32_t id_slot(const struct stacktrie *trie, uint32_t id)
{
	uint32_t i = mix(id) & (trie->id_room - 1);

	while (trie->ids[i].id != 0 && trie->ids[i].id != id) {
		i = (i + 1) & (trie->id_room - 1);
	}
	return i;
}

static void id_add(struct stacktrie *trie, uint32_t id, uint32_t node)
{
	uint32_t slot;

	if (trie->id_count * 2 >= trie->id_room) {
		struct stacktrie old = *trie;

		trie->id_room *= 2;
		trie->ids =
			tool_alloc((size_t)trie->id_room * sizeof(*trie->ids));
		for (uint32_t i = 0; i < old.id_room; i++) {
			if (old.ids[i].id != 0) {
				trie->ids[id_slot(trie, old.ids[i].id)] =
					old.ids[i];
			}
		}
		free(old.ids);
	}
	slot = id_slot(trie, id);
	trie->id_count += trie->ids[slot].id == 0;
	trie->ids[slot].id = id;
	trie->ids[slot].node = node;
}

uint32_t stacktrie_node(const struct stacktrie *trie, uint32_t id)
{
	uint32_t slot = id_slot(trie, id);

	return id != 0 && trie->ids[slot].id == id ? trie->ids[slot].node : 0;
}

static uint64_t frame_make(
	const struct trace_info *info, uint32_t epoch, uint64_t addr)
{
	const struct trace_module *module;

	if (addr == 0) {
		return FRAME_LEFT_OUT;
	}
	module = info_module(info, epoch, addr - 1);
	if (module == NULL || module->object >= UINT16_MAX) {
		return (addr - 1) & FRAME_ADDR_MASK;
	}
	return (uint64_t)(module->object + 1) << FRAME_OBJECT_SHIFT |
	       ((addr - 1 - module->bias) & FRAME_ADDR_MASK);
}

/* The record before, as far as the next may share it. */
struct path {
	uint32_t *nodes;
	uint64_t *addrs;
	uint32_t room;
	uint32_t count;
	uint32_t epoch;
};

static void path_reserve(struct path *path, uint32_t count)
{
	if (count > path->room) {
		path->room = count < 256 ? 256 : 2 * count;
		path->nodes = tool_realloc(
			path->nodes, path->room * sizeof(*path->nodes));
		path->addrs = tool_realloc(
			path->addrs, path->room * sizeof(*path->addrs));
	}
}

static bool record_decode(struct stacktrie *trie, const struct trace_info *info,
	struct path *path, const uint8_t **at, const uint8_t *end)
{
	uint64_t id, epoch, shared, count;
	uint32_t node = 0;
	uint64_t addr = 0;

	if (!varint_read(at, end, &id) || !varint_read(at, end, &epoch) ||
		!varint_read(at, end, &shared) ||
		!varint_read(at, end, &count) || id == 0 || id > UINT32_MAX ||
		epoch > UINT32_MAX || shared > path->count || shared > count ||
		count == 0 || count > STACK_MAX) {
		return false;
	}
	path_reserve(path, (uint32_t)count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t difference;

		if (i < shared) {
			addr = path->addrs[i];
			if (epoch == path->epoch) {
				node = path->nodes[i];
				continue;
			}
		} else {
			if (!varint_read(at, end, &difference)) {
				return false;
			}
			addr += (uint64_t)zigzag_value(difference);
			path->addrs[i] = addr;
		}
		node = stacktrie_child(
			trie, node, frame_make(info, (uint32_t)epoch, addr));
		path->nodes[i] = node;
	}
	path->count = (uint32_t)count;
	path->epoch = (uint32_t)epoch;
	id_add(trie, (uint32_t)id, node);
	return true;
}

bool stacktrie_decode(struct stacktrie *trie, const struct trace_info *info,
	const uint8_t *bytes, size_t size)
{
	const uint8_t *at = bytes;
	const uint8_t *end = bytes + size;
	struct path path = {0};
	bool good = true;

	while (good && at < end) {
		good = record_decode(trie, info, &path, &at, end);
	}
	free(path.nodes);
	free(path.addrs);
	return good;
}
