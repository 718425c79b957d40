/* SPDX-License-Identifier: MIT */
/* init_fails.c - init() returns an error: nothing else may be called. */
#pragma GCC diagnostic ignored "-Woverride-init"
#include <unistd.h>

#include "good.h"

static int init_fails(const struct amux_host *host)
{
	(void)host;
	return ENODEV;
}

static void *never_malloc(size_t size)
{
	(void)size;
	_exit(99);
}

const struct amux_backend allocmux_backend = {
	GOOD_TABLE,
	.init = init_fails,
	.malloc = never_malloc,
};
