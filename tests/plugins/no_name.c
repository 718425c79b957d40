/* SPDX-License-Identifier: MIT */
/* no_name.c - no name. */
#pragma GCC diagnostic ignored "-Woverride-init"
#include "good.h"

const struct amux_backend allocmux_backend = {
	GOOD_TABLE,
	.name = NULL,
};
