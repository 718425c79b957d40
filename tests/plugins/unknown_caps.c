/* SPDX-License-Identifier: MIT */
/* unknown_caps.c - a capability that this host does not know. */
#pragma GCC diagnostic ignored "-Woverride-init"
#include "good.h"

const struct amux_backend allocmux_backend = {
	GOOD_TABLE,
	.caps = (uint64_t)1 << 63,
};
