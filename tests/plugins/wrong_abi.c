/* SPDX-License-Identifier: MIT */
/* wrong_abi.c - a table of another ABI. */
#pragma GCC diagnostic ignored "-Woverride-init"
#include "good.h"

const struct amux_backend allocmux_backend = {
	GOOD_TABLE,
	.abi = AMUX_BACKEND_ABI + 1,
};
