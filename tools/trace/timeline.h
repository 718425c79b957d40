/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - how live bytes went over time, in all and by site.
 *
 * At most TIMELINE_MAX steps of equal width; when time goes beyond the last,
 * two steps become one. Of each site only the steps are kept in which its live
 * bytes changed.
 */
#ifndef AMUX_TOOLS_TIMELINE_H
#define AMUX_TOOLS_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#define TIMELINE_MAX 512

struct timeline_step {
	uint64_t peak; /* greatest live bytes */
	uint64_t live; /* at its end */
	uint64_t allocs;
	uint64_t frees;
	uint64_t bytes; /* allocated */
};

/* At the end of `step`, `site` had `live` bytes. */
struct timeline_change {
	uint32_t step;
	uint32_t site;
	uint64_t live;
};

struct timeline {
	uint64_t width; /* of a step, ns */
	uint32_t count; /* of steps */
	struct timeline_step steps[TIMELINE_MAX];
	struct timeline_change *changes; /* by step */
	size_t change_count;
	size_t change_room;
};

void timeline_init(struct timeline *timeline, uint64_t width);
void timeline_fini(struct timeline *timeline);

/*
 * Time has come to `ns`, which lies behind the last step: add steps that start
 * and end with `live` bytes.
 */
void timeline_extend(struct timeline *timeline, uint64_t ns, uint64_t live);

/* In the last step, `site` ended with `live`. */
void timeline_change_add(
	struct timeline *timeline, uint32_t site, uint64_t live);

#endif
