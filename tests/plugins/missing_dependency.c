/* SPDX-License-Identifier: MIT */
/* missing_dependency.c - needs a library that is not there. */
#include "good.h"

extern int absent_function(void);

static int init_absent(const struct amux_host *host)
{
	return absent_function() ? ENODEV : good_init(host);
}

#pragma GCC diagnostic ignored "-Woverride-init"
const struct amux_backend allocmux_backend = {
	GOOD_TABLE,
	.init = init_absent,
};
