/* SPDX-License-Identifier: MIT */
/*
 * varint.h - unsigned LEB128 as trace blocks have it, read with a limit.
 */
#ifndef AMUX_TOOLS_VARINT_H
#define AMUX_TOOLS_VARINT_H

#include <stdbool.h>
#include <stdint.h>

/* Read one number and advance *at; false: it does not end before `end`. */
static inline bool varint_read(
	const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	const uint8_t *p = *at;
	uint64_t v = 0;

	for (unsigned shift = 0; p < end && shift < 70; shift += 7) {
		uint8_t byte = *p++;

		v |= (uint64_t)(byte & 0x7f) << (shift & 63);
		if (byte < 0x80) {
			*at = p;
			*value = v;
			return true;
		}
	}
	return false;
}

static inline int64_t zigzag_value(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

#endif
