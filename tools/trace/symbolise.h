/* SPDX-License-Identifier: MIT */
/*
 * symbolise.h - names and source lines for all frames of a trace.
 *
 * A frame stands for one place, or for several if calls were inlined there.
 * Equal places are one: they compare by index.
 */
#ifndef AMUX_TOOLS_SYMBOLISE_H
#define AMUX_TOOLS_SYMBOLISE_H

#include <stdint.h>

#include "debugfile.h"
#include "stacktrie.h"
#include "strpool.h"

struct place {
	const char *function; /* readable, "0x..." if unknown */
	const char *symbol;   /* as linked; or NULL */
	const char *file;     /* source; or NULL */
	uint32_t line;        /* 0: unknown */
	uint32_t object;      /* index plus 1; 0: none */
};

struct frame_places {
	uint64_t frame;
	uint32_t first; /* in order, innermost first; index into list */
	uint32_t count; /* at least 1 */
};

struct symbols {
	struct place *places; /* [0] is "frames left out" */
	uint32_t place_count;
	uint32_t *place_map;
	uint32_t place_room;
	uint32_t *list; /* indices of places */
	uint32_t list_count;
	struct frame_places *frames; /* sorted by frame */
	uint32_t frame_count;
	uint32_t *nodes; /* by node of the trie: index into frames */
	uint32_t object_count;
	enum debug_status *status; /* by object */
	char **debug_paths;        /* by object: separate debug file, or NULL */
	struct strpool pool;
};

/* Resolve every frame of the trie. `lines` false: only symbol names. */
void symbols_init(struct symbols *symbols, const struct stacktrie *trie,
	const struct trace_info *info, bool lines);
void symbols_fini(struct symbols *symbols);

/* The places of a node of the trie (not the root). */
static inline const struct frame_places *symbols_node(
	const struct symbols *symbols, uint32_t node)
{
	return &symbols->frames[symbols->nodes[node]];
}

/*
 * One line on stderr for each object that is missing or changed and has frames
 * in the trace. Returns the number of lines.
 */
int symbols_warn(const struct symbols *symbols, const struct trace_info *info);

#endif
