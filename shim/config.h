/* SPDX-License-Identifier: MIT */
/*
 * config.h - the options, read once from the environment.
 *
 * All options stand in one table (config.c); the man page and
 * `allocmux options` are printed from it. Values are copied at start, because
 * programs overwrite their environment (setproctitle). In secure mode
 * (AT_SECURE: set-user-ID and the like) the environment is ignored.
 * After config_load() everything here is constant and async-signal-safe.
 */
#ifndef AMUX_CONFIG_H
#define AMUX_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

/* Index into the option table; the order is the table's. */
enum option_id {
	OPTION_BACKEND,
	OPTION_STRICT,
	OPTION_VERBOSE,
	OPTION_PLUGIN_PATH,
	OPTION_BAD_FREE,
	OPTION_DEEPBIND,
	OPTION_CONTROL,
	OPTION_TRACE,
	OPTION_TRACE_FILE,
	OPTION_TRACE_DELAY,
	OPTION_TRACE_DURATION,
	OPTION_TRACE_LIVE,
	OPTION_TRACE_SIZE_LIMIT,
	OPTION_TRACE_RING,
	OPTION_SAMPLE_BYTES,
	OPTION_COUNT
};

/* Read the environment; complains about bad values, one line each. */
void config_load(void);

/* The value that was set, or the default; NULL if there is neither. */
const char *config_string(enum option_id id);
bool config_bool(enum option_id id);

/* True if the environment set it. */
bool config_is_set(enum option_id id);

/* The value of ALLOC_<BACKEND>_<NAME>, or NULL; both in any case. */
const char *config_backend_option(const char *backend, const char *name);

#endif
