/* SPDX-License-Identifier: MIT */
/*
 * builtin.c - one line per backend that is compiled in.
 *
 * `system` is not in this list: it is there before any choice, and its table
 * is libc's own functions (backends/system/).
 */
#include "builtin.h"

#include <stddef.h>

#include "dl/dl.h"
#include "percpu/percpu.h"

static const struct amux_backend *const backends[] = {
	&amux_dl_backend,
	&amux_dl_checked_backend,
	&amux_percpu_backend,
};

const struct amux_backend *builtin_backend(unsigned i)
{
	return i < sizeof(backends) / sizeof(backends[0]) ? backends[i] : NULL;
}
