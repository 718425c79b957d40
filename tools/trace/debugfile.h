/* SPDX-License-Identifier: MIT */
/*
 * debugfile.h - the ELF files that describe an object of a trace.
 */
#ifndef AMUX_TOOLS_DEBUGFILE_H
#define AMUX_TOOLS_DEBUGFILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "traceinfo.h"

enum debug_status {
	DEBUG_FULL,    /* debug information */
	DEBUG_SYMBOLS, /* a symbol table, no debug information */
	DEBUG_NONE,    /* neither */
	DEBUG_MISSING, /* the file is not there, or is no ELF file */
	DEBUG_CHANGED, /* the file is another one by its build-id */
	DEBUG_VIRTUAL  /* no file at all: vdso */
};

struct debugfile {
	Elf *main;  /* the file itself; NULL: missing or changed */
	Elf *debug; /* what has debug information, may be == main; or NULL */
	int main_fd;
	int debug_fd;
	char *debug_path; /* of a separate file; or NULL */
	enum debug_status status;
};

/*
 * Open what there is on `object`. Separate debug information is looked for by
 * build-id and by .gnu_debuglink below /usr/lib/debug and each directory of
 * the environment variable ALLOCMUX_DEBUG_PATH (colons between), and with
 * debuginfod when DEBUGINFOD_URLS is set.
 */
void debugfile_open(struct debugfile *file, const struct trace_object *object);
void debugfile_close(struct debugfile *file);

#endif
