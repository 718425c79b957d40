/* SPDX-License-Identifier: MIT */
/*
 * commands.h - the requests of the control channel and their answers.
 *
 * A new command is one function and one row in commands.c. The grammar is in
 * <allocmux/control.h>. Nothing here knows of sockets.
 */
#ifndef AMUX_COMMANDS_H
#define AMUX_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

/* Where an answer goes: whole lines, in order. */
struct reply {
	void (*write)(void *arg, const char *line, size_t len);
	void *arg;
};

/* One line; the newline is added here. Conversions: see base/log.h. */
void reply_line(struct reply *reply, const char *format, ...) AMUX_PRINTF(2, 3);

/* The last line of an answer. */
void reply_end(struct reply *reply, int err, const char *text);

/* A request taken apart; both point into the line. */
struct request {
	const char *command;
	const char *argument; /* "" if there is none */
};

/*
 * Take apart `len` bytes that end in '\n', in place. False if they are no
 * request: no newline, a NUL or another control character in them, or nothing
 * before the first space.
 */
bool request_parse(char *line, size_t len, struct request *request);

/* Do what the line says and answer it, to the last line. */
void request_run(char *line, size_t len, struct reply *reply);

#endif
