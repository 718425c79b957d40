/* SPDX-License-Identifier: MIT */
/*
 * strpool.c - a set of texts, hashed by FNV-1a.
 */
#include "strpool.h"

#include <stdlib.h>
#include <string.h>

#include "tool.h"

static size_t hash(const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *text != '\0'; text++) {
		h = (h ^ (uint8_t)*text) * 0x100000001b3u;
	}
	return (size_t)(h ^ h >> 32);
}

static char **place_of(const struct strpool *pool, const char *text)
{
	size_t i = hash(text) & (pool->room - 1);

	while (pool->texts[i] != NULL && strcmp(pool->texts[i], text) != 0) {
		i = (i + 1) & (pool->room - 1);
	}
	return &pool->texts[i];
}

static void pool_grow(struct strpool *pool)
{
	struct strpool old = *pool;

	pool->room = old.room ? 2 * old.room : 1024;
	pool->texts = tool_alloc(pool->room * sizeof(*pool->texts));
	for (size_t i = 0; i < old.room; i++) {
		if (old.texts[i] != NULL) {
			*place_of(pool, old.texts[i]) = old.texts[i];
		}
	}
	free(old.texts);
}

const char *strpool_add(struct strpool *pool, const char *text)
{
	char **place;

	if (2 * pool->count >= pool->room) {
		pool_grow(pool);
	}
	place = place_of(pool, text);
	if (*place == NULL) {
		*place = tool_strdup(text);
		pool->count++;
	}
	return *place;
}

void strpool_fini(struct strpool *pool)
{
	for (size_t i = 0; i < pool->room; i++) {
		free(pool->texts[i]);
	}
	free(pool->texts);
	pool->texts = NULL;
	pool->room = 0;
	pool->count = 0;
}
