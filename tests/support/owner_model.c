/* SPDX-License-Identifier: MIT */
/* owner_model.c - see owner_model.h. */
#include "owner_model.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "owner.h"

/*
 * Cells of a quarter granule, so that granules are whole, mixed, and shared.
 * The model starts two granules below a multiple of nothing in particular.
 */
enum { CELLS = 48, MOST_STEP = 9 };
#define CELL  (OWNER_GRANULE / 4)
#define FIRST (37 * OWNER_GRANULE + 2 * CELL)

static void *cell_address(size_t i)
{
	return (void *)(FIRST + i * CELL);
}

static bool is_free(const uint8_t *model, size_t from, size_t count)
{
	for (size_t i = from; i < from + count; i++) {
		if (model[i]) {
			return false;
		}
	}
	return true;
}

/* The first, a middle and the last byte of each cell, and beyond the ends. */
static bool agrees(const uint8_t *model)
{
	for (size_t i = 0; i < CELLS; i++) {
		const char *cell = cell_address(i);

		if (owner_of(cell) != model[i] ||
			owner_of(cell + CELL / 2) != model[i] ||
			owner_of(cell + CELL - 1) != model[i]) {
			return false;
		}
	}
	return owner_of((char *)cell_address(0) - 1) == OWNER_LIBC &&
	       owner_of(cell_address(CELLS)) == OWNER_LIBC;
}

static bool step(uint8_t *model, const uint8_t *bytes)
{
	size_t from = bytes[1] % CELLS;
	size_t count = 1 + bytes[2] % MOST_STEP;
	unsigned id = OWNER_FIRST + bytes[0] / 2 % 3;

	if (from + count > CELLS) {
		count = CELLS - from;
	}
	if (bytes[0] % 2) {
		int expected = is_free(model, from, count) ? 0 : -EINVAL;

		if (owner_register(cell_address(from), count * CELL, id) !=
			expected) {
			return false;
		}
		if (expected == 0) {
			memset(model + from, (int)id, count);
		}
	} else {
		if (owner_unregister(cell_address(from), count * CELL)) {
			return false;
		}
		memset(model + from, 0, count);
	}
	return agrees(model);
}

int owner_model_run(const uint8_t *bytes, size_t count)
{
	uint8_t model[CELLS] = {0};
	int result = 0;

	for (size_t i = 0; i + 3 <= count; i += 3) {
		if (!step(model, bytes + i)) {
			result = (int)(i / 3) + 1;
			break;
		}
	}
	owner_unregister(cell_address(0), CELLS * CELL);
	return result;
}
