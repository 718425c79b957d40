/* SPDX-License-Identifier: MIT */
/* too_small.c - a table that ends before the required slots. */
#pragma GCC diagnostic ignored "-Woverride-init"
#include "good.h"

const struct amux_backend allocmux_backend = {
	GOOD_TABLE,
	.size = offsetof(struct amux_backend, malloc),
};
