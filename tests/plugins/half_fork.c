/* SPDX-License-Identifier: MIT */
/* half_fork.c - prefork without its two counterparts. */
#pragma GCC diagnostic ignored "-Woverride-init"
#include "good.h"

static void prefork(void)
{
}

const struct amux_backend allocmux_backend = {
	GOOD_TABLE,
	.prefork = prefork,
};
