/* SPDX-License-Identifier: MIT */
/*
 * config.c - the option table and the environment.
 */
#include "config.h"

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <allocmux/allocmux.h>

#include "base/bits.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/os.h"

#define OPTION(v, t, f, h)                                                     \
	{                                                                      \
		.size = sizeof(struct amux_option), .variable = (v),           \
		.type = (t), .fallback = (f), .help = (h)                      \
	}

/*
 * Every variable the project reads. The first OPTION_COUNT rows are the
 * shim's own, in the order of enum option_id; then the backends'.
 */
static const struct amux_option options[] = {
	[OPTION_BACKEND] = OPTION("ALLOC_BACKEND", "NAME|PATH", "percpu",
		"The allocator that serves the program: a built-in, a plugin, "
		"the name of a well-known library, or a path to a library."),
	[OPTION_STRICT] = OPTION("ALLOC_STRICT", "0|1", "0",
		"End the program with status 127 if the backend cannot be "
		"used, instead of running on with libc's malloc."),
	[OPTION_VERBOSE] = OPTION("ALLOC_VERBOSE", "0|1", "0",
		"Print one line at start: which backend was chosen, from "
		"where."),
	[OPTION_PLUGIN_PATH] = OPTION("ALLOC_PLUGIN_PATH", "DIR[:DIR...]", NULL,
		"Folders searched for plugins before the installed ones."),
	[OPTION_BAD_FREE] = OPTION("ALLOC_BAD_FREE", "abort|warn", "abort",
		"What to do about a pointer that no allocator gave out: abort "
		"with one line, or print the line and leave the block alone."),
	[OPTION_DEEPBIND] = OPTION("ALLOC_DEEPBIND", "clear|keep", "clear",
		"Clear RTLD_DEEPBIND in dlopen(3), so that plugins use the "
		"same malloc as the program, or keep it."),
	[OPTION_CONTROL] = OPTION("ALLOC_CONTROL", "0|1|fork", "0",
		"Listen for `allocmux status', `switch', `trim' and `trace': a "
		"thread and a socket for the same user. With fork, children "
		"that go on without exec (daemons, workers) listen too."),
	[OPTION_TRACE] = OPTION("ALLOC_TRACE", "record|profile|sample", NULL,
		"Trace allocations: every event, counters per call site, or "
		"a sample by bytes."),
	[OPTION_TRACE_FILE] = OPTION("ALLOC_TRACE_FILE", "PATTERN",
		"allocmux-%p.trace",
		"Name of the trace file; %p is the process id, %n counts the "
		"programs that a process executes. Existing files are kept: a "
		"number is appended."),
	[OPTION_TRACE_DELAY] = OPTION("ALLOC_TRACE_DELAY", "SECONDS", NULL,
		"Begin the trace so long after the start of the program."),
	[OPTION_TRACE_DURATION] = OPTION("ALLOC_TRACE_DURATION", "SECONDS",
		NULL, "Stop the trace after so long."),
	[OPTION_TRACE_LIVE] = OPTION("ALLOC_TRACE_LIVE", "BYTES", NULL,
		"Begin the trace when so many bytes are allocated and not "
		"freed."),
	[OPTION_TRACE_SIZE_LIMIT] = OPTION("ALLOC_TRACE_SIZE_LIMIT", "BYTES",
		NULL,
		"Let the raw trace file grow to this size; then events are "
		"counted as lost, see ALLOC_TRACE_RING."),
	[OPTION_TRACE_RING] = OPTION("ALLOC_TRACE_RING", "0|1", "0",
		"At the size limit, overwrite the oldest events: keep the end "
		"of the story instead of its beginning."),
	[OPTION_SAMPLE_BYTES] = OPTION("ALLOC_SAMPLE_BYTES", "BYTES", "512k",
		"Mean distance between samples in mode sample; smaller is "
		"finer and slower."),
};

enum { KNOWN = sizeof(options) / sizeof(options[0]) };

static struct {
	const char *values[KNOWN]; /* sync: set in config_load, then constant */
	char *pool;                /* sync: config_load only */
	size_t pool_left;
	char small_pool[256];
} g;

AMUX_API const struct amux_option *amux_option_at(size_t i)
{
	return i < KNOWN ? &options[i] : NULL;
}

/* The value if entry is "variable=value", else NULL. */
static const char *value_of(const char *entry, const char *variable)
{
	size_t len = strlen(variable);

	return !strncmp(entry, variable, len) && entry[len] == '='
		       ? entry + len + 1
		       : NULL;
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *s = list; s; s = strchr(s, '|')) {
		s += *s == '|';
		if (!strncmp(s, word, len) && (s[len] == '|' || !s[len])) {
			return true;
		}
	}
	return false;
}

/* Types in small letters and digits are lists of the words allowed. */
static bool is_word_list(const char *type)
{
	return (*type >= 'a' && *type <= 'z') || (*type >= '0' && *type <= '9');
}

/* Copied, since programs overwrite the memory of their environment. */
static const char *keep(const char *value)
{
	size_t size = strlen(value) + 1;
	char *copy;

	if (size > g.pool_left) {
		size_t bytes = round_up(size + 4096, os_page_size());
		void *addr;

		if (os_map(bytes, &addr)) {
			return NULL;
		}
		g.pool = addr;
		g.pool_left = bytes;
	}
	copy = memcpy(g.pool, value, size);
	g.pool += size;
	g.pool_left -= size;
	return copy;
}

static void read_entry(const char *entry)
{
	for (size_t i = 0; i < KNOWN; i++) {
		const struct amux_option *option = &options[i];
		const char *value = value_of(entry, option->variable);

		if (!value) {
			continue;
		}
		if (is_word_list(option->type) &&
			!has_word(option->type, value)) {
			log_line("%s=%s is not one of %s; using %s",
				option->variable, value, option->type,
				option->fallback);
			return;
		}
		g.values[i] = keep(value);
		return;
	}
}

void config_load(void)
{
	g.pool = g.small_pool;
	g.pool_left = sizeof(g.small_pool);
	if (getauxval(AT_SECURE) || !environ) {
		return;
	}
	for (char **entry = environ; *entry; entry++) {
		if (!strncmp(*entry, "ALLOC_", 6)) {
			read_entry(*entry);
		}
	}
}

const char *config_string(enum option_id id)
{
	return g.values[id] ? g.values[id] : options[id].fallback;
}

bool config_bool(enum option_id id)
{
	const char *value = config_string(id);

	return value && !strcmp(value, "1");
}

bool config_is_set(enum option_id id)
{
	return g.values[id] != NULL;
}

/* Does variable spell ALLOC_<BACKEND>_<NAME>, letter by letter? */
static bool names_option(
	const char *variable, const char *backend, const char *name)
{
	const char *parts[] = {"ALLOC_", backend, "_", name};
	const char *v = variable;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		for (const char *c = parts[i]; *c; c++, v++) {
			char upper = *c >= 'a' && *c <= 'z'
					     ? (char)(*c - 'a' + 'A')
				     : *c == '-' ? '_'
						 : *c;

			if (*v != upper) {
				return false;
			}
		}
	}
	return *v == '\0';
}

const char *config_backend_option(const char *backend, const char *name)
{
	for (size_t i = 0; i < KNOWN; i++) {
		if (names_option(options[i].variable, backend, name)) {
			return g.values[i] ? g.values[i] : options[i].fallback;
		}
	}
	return NULL;
}
