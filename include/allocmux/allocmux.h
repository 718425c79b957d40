/* SPDX-License-Identifier: MIT */
/*
 * allocmux/allocmux.h - Allocmux for applications and tools.
 *
 * Two libraries offer these functions: liballocmux (replaces nothing) and
 * liballocmux_shim (replaces malloc's family in the process). All functions
 * are thread-safe unless they say otherwise. Strings returned are constant and
 * live as long as the process.
 */
#ifndef ALLOCMUX_ALLOCMUX_H
#define ALLOCMUX_ALLOCMUX_H

#include <stddef.h>
#include <stdint.h>

#include <allocmux/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library, "MAJOR.MINOR.PATCH". Async-signal-safe. */
const char *amux_version(void);

/*
 * One entry of the option table: an environment variable that the shim reads
 * once at start.
 */
struct amux_option {
	uint32_t size;        /* bytes of this struct that exist */
	uint32_t reserved;    /* 0 */
	const char *variable; /* "ALLOC_BACKEND" */
	const char *type;     /* what a value looks like, e.g. "NAME", "0|1" */
	const char *fallback; /* value if unset; NULL if none */
	const char *help;     /* one sentence: what it does and for whom */
};

/* Option number i, counted from 0; NULL past the last. */
const struct amux_option *amux_option_at(size_t i);

/* Where a backend comes from. */
enum amux_backend_kind {
	AMUX_KIND_BUILTIN = 0, /* compiled in */
	AMUX_KIND_PLUGIN = 1,  /* a shared object that exports a table */
	AMUX_KIND_EXTERNAL = 2 /* an unmodified library with a malloc in it */
};

/*
 * What is known about a backend without loading it. Found by looking at the
 * built-in table, the plugin folders and the standard library folders.
 */
struct amux_backend_info {
	uint32_t size;       /* bytes of this struct that exist */
	uint32_t kind;       /* enum amux_backend_kind */
	const char *name;    /* as in ALLOC_BACKEND */
	const char *path;    /* the file, or NULL if built in */
	const char *version; /* or NULL if not known without loading it */
	const char *summary; /* one line, or NULL */
	const char *caveat;  /* what to know before use, or NULL */
};

/* Return non-zero to stop. The strings live until the visit returns. */
typedef int amux_backend_visit_fn(
	const struct amux_backend_info *info, void *arg);

/*
 * Visit every backend that this machine can use. Returns what the last visit
 * returned, else 0. Not async-signal-safe: reads folders.
 */
int amux_backend_list(amux_backend_visit_fn *visit, void *arg);

/*
 * The name of the backend that serves new blocks, e.g. "percpu".
 * Async-signal-safe.
 */
const char *amux_backend_active(void);

/*
 * Serve new blocks from backend NAME (see amux_backend_list(), or a path to a
 * shared object) from now on. Blocks made before stay with their owner and may
 * be freed as ever. Returns 0, or an errno value with one line on stderr: then
 * nothing has changed. Safe while other threads allocate; not
 * async-signal-safe, and not from inside an allocator.
 */
int amux_backend_switch(const char *name);

/*
 * The name of the backend that owns ptr: any bit pattern, never dereferenced.
 * "system" for everything no backend has registered. Async-signal-safe,
 * lock-free.
 */
const char *amux_owner(const void *ptr);

/*
 * For a shim that was loaded into a running program by dlopen(3), as
 * `allocmux attach` does: loading alone has sent the program's calls to the
 * shim; this chooses the backend. Returns 0 or an errno value with one line.
 * In liballocmux_shim only.
 */
int amux_attach(const char *backend);

/*
 * Undo a late load as far as live blocks allow: new blocks come from libc
 * directly again; free, realloc and malloc_usable_size keep passing through
 * the shim, so that blocks still alive find their owner. Returns 0, ENOTSUP if
 * the shim was not loaded late, EACCES if some modules' slots could not be
 * rewritten (their calls still reach the shim, which passes them to libc).
 */
int amux_detach(void);

/*
 * Start a trace of this process's allocations, or go on with one that was
 * stopped. mode is "record", "profile" or "sample", NULL for what ALLOC_TRACE
 * or the first start said (else "record"). file is a file name with the
 * conversions of ALLOC_TRACE_FILE, NULL for what that says; it must live as
 * long as the process. A process has one trace: once begun, mode and file
 * stay. Returns 0, or an errno value: EALREADY if it is running, EINVAL for an
 * unknown mode, EBUSY for another mode or file than the trace has, otherwise
 * why the file could not be made; all but EALREADY with one line on stderr.
 * Thread-safe; not async-signal-safe.
 */
int amux_trace_start(const char *mode, const char *file);

/*
 * Stop it. What was recorded stays in the file. Returns 0, or EALREADY if none
 * is running. Thread-safe; not async-signal-safe. Calls that other threads are
 * in at this moment may still be recorded.
 */
int amux_trace_stop(void);

/*
 * Mark this moment in the trace; in mode "profile", with a copy of all
 * counters. Returns 0, or EINVAL if no trace is running. Thread-safe; not
 * async-signal-safe.
 */
int amux_trace_snapshot(void);

/* Path of this process's trace file, NULL if it has none. Thread-safe. */
const char *amux_trace_file(void);

#ifdef __cplusplus
}
#endif

#endif
