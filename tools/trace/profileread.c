/* SPDX-License-Identifier: MIT */
/*
 * profileread.c - SITES blocks into the account.
 */
#include "profileread.h"

#include <stdlib.h>
#include <string.h>

#include "tool.h"

static void site_take(struct account *account,
	const struct amux_trace_file *header, const struct amux_trace_site *s)
{
	struct totals *total = &account->total;
	struct site *site = &account->sites[account_site(account, s->stack)];
	bool quiet = s->changed_peak != header->total_peak;

	site->allocs += s->allocs;
	site->frees += s->frees;
	site->bytes += s->bytes;
	site->usable += s->usable;
	site->live_bytes += s->live_bytes;
	site->live_usable += s->live_usable;
	site->peak_bytes += s->peak_bytes;
	site->at_peak += quiet ? s->live_bytes : s->at_peak;
	site->temporary += s->temporary;
	site->reallocs += s->reallocs;
	if (s->max_size > site->max_size) {
		site->max_size = s->max_size;
	}
	for (unsigned i = 0; i < AMUX_TRACE_LIFETIMES; i++) {
		site->lifetimes[i] += s->lifetimes[i];
		account->lifetimes[i] += s->lifetimes[i];
	}
	total->allocs += s->allocs;
	total->frees += s->frees;
	total->bytes += s->bytes;
	total->usable += s->usable;
	total->live_bytes += s->live_bytes;
	total->live_usable += s->live_usable;
	total->temporary += s->temporary;
	total->reallocs += s->reallocs;
}

void profile_read(struct tracefile *file, struct account *account)
{
	size_t size = file->header.block_size;
	size_t step = file->header.site_size;
	uint8_t *buffer = tool_alloc(size);

	account->total.peak_bytes = file->header.total_peak;
	account->total.peak_ns = file->header.peak_ns;
	account->total.end_ns = file->header.end_ns;
	for (size_t i = 0; i < file->block_count; i++) {
		const struct trace_block *b = &file->blocks[i];
		size_t used = b->committed & 0xffffffff;

		if (b->kind != AMUX_TRACE_SITES || b->lane != 0) {
			continue;
		}
		if (step < offsetof(struct amux_trace_site, allocs) ||
			!tracefile_read(file, i, buffer)) {
			file->damage.blocks++;
			continue;
		}
		for (size_t at = 0; at + step <= used; at += step) {
			struct amux_trace_site site = {0};

			memcpy(&site,
				buffer + sizeof(struct amux_trace_block) + at,
				step < sizeof(site) ? step : sizeof(site));
			if (site.stack != 0) {
				site_take(account, &file->header, &site);
			}
		}
	}
	free(buffer);
}
