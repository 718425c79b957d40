/* SPDX-License-Identifier: MIT */
/* no_usable_size.c - no usable_size. */
#pragma GCC diagnostic ignored "-Woverride-init"
#include "good.h"

const struct amux_backend allocmux_backend = {
	GOOD_TABLE,
	.usable_size = NULL,
};
