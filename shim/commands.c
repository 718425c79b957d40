/* SPDX-License-Identifier: MIT */
/*
 * commands.c - see commands.h.
 *
 * Locks: none of its own; one thread calls request_run().
 */
#include "commands.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include <allocmux/allocmux.h>
#include <allocmux/control.h>

#include "badptr.h"
#include "base/log.h"
#include "base/os.h"
#include "control.h"
#include "dispatch.h"
#include "lifecycle.h"
#include "owner.h"
#include "registry.h"
#include "trace/trace.h"
#include "window.h"

static struct {
	/* Owners that have been seen to report live bytes: their 0 is a 0. */
	bool tells_live[OWNER_LIMIT]; /* sync: the control thread's */
	/* Kept by the tracer from its start on. */
	char trace_pattern[AMUX_CONTROL_LINE]; /* sync: the control thread's */
} g;

void reply_line(struct reply *reply, const char *format, ...)
{
	char line[AMUX_CONTROL_LINE];
	size_t len;
	va_list args;

	va_start(args, format);
	len = log_vformat(line, sizeof(line), format, args);
	va_end(args);
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)line[i] < ' ') {
			line[i] = '?';
		}
	}
	line[len++] = '\n'; /* in place of the terminator */
	reply->write(reply->arg, line, len);
}

void reply_end(struct reply *reply, int err, const char *text)
{
	if (err) {
		reply_line(reply, "error %d %s", err, text);
	} else {
		reply_line(reply, "ok");
	}
}

bool request_parse(char *line, size_t len, struct request *request)
{
	char *space;

	if (len < 2 || line[len - 1] != '\n') {
		return false;
	}
	line[--len] = '\0';
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)line[i] < ' ') {
			return false;
		}
	}
	space = strchr(line, ' ');
	request->command = line;
	request->argument = space ? space + 1 : "";
	if (space) {
		*space = '\0';
	}
	return *line != '\0';
}

static int run_ping(struct reply *reply, const char *argument)
{
	reply_line(reply, "allocmux protocol=%d pid=%d version=%s",
		AMUX_CONTROL_PROTOCOL, os_getpid(), amux_version());
	return 0;
}

/* The figures of an owner; what it cannot tell is left 0. */
static void read_stats(unsigned id, struct amux_stats *stats)
{
	const struct amux_backend *b = dispatch_backend(id);

	memset(stats, 0, sizeof(*stats));
	if (b->stats) {
		b->stats(stats);
	} else {
		stats->mapped_bytes = window_mapped_bytes(id);
	}
	if (stats->live_bytes) {
		g.tells_live[id] = true;
	}
}

static void reply_owner(struct reply *reply, unsigned id)
{
	struct amux_stats stats;
	char live[64] = "", blocks[64] = "";

	read_stats(id, &stats);
	if (g.tells_live[id]) {
		log_format(live, sizeof(live), " live_bytes=%lu",
			(unsigned long)stats.live_bytes);
	}
	if (stats.live_blocks || (g.tells_live[id] && !stats.live_bytes)) {
		log_format(blocks, sizeof(blocks), " live_blocks=%lu",
			(unsigned long)stats.live_blocks);
	}
	reply_line(reply, "owner id=%u active=%d%s%s mapped_bytes=%lu name=%s",
		id, id == dispatch_active(), live, blocks,
		(unsigned long)stats.mapped_bytes, registry_name(id));
	reply_line(reply, "origin id=%u path=%s", id, registry_origin(id));
}

static int run_status(struct reply *reply, const char *argument)
{
	unsigned count = registry_count();

	run_ping(reply, argument);
	reply_line(
		reply, "bad_pointers count=%lu", (unsigned long)badptr_count());
	for (unsigned id = 0; id < count; id++) {
		if (dispatch_backend(id)) { /* else it failed to load */
			reply_owner(reply, id);
		}
	}
	return 0;
}

/* Answers by itself if it fails: the reason is the registry's. */
static int run_switch(struct reply *reply, const char *argument)
{
	char why[REGISTRY_WHY_SIZE];
	struct amux_stats stats;
	int err;

	read_stats(dispatch_active(), &stats); /* notes who tells live bytes */
	err = lifecycle_switch(argument, why, sizeof(why));
	if (err) {
		reply_line(reply, "why text=%s", why);
		return err;
	}
	reply_line(reply, "active name=%s", amux_backend_active());
	return 0;
}

static int run_trim(struct reply *reply, const char *argument)
{
	unsigned count = registry_count();

	for (unsigned id = 0; id < count; id++) {
		const struct amux_backend *b = dispatch_backend(id);

		if (b && b->trim) {
			reply_line(reply, "trimmed any=%d name=%s",
				b->trim(0) != 0, registry_name(id));
		}
	}
	return 0;
}

static int reply_trace(struct reply *reply, int err)
{
	if (!err && trace_file()) {
		reply_line(reply, "trace file=%s", trace_file());
	}
	return err;
}

/* "[MODE[ PATTERN]]"; MODE may be "-", for what was said before. */
static int run_trace_start(struct reply *reply, const char *argument)
{
	const char *pattern = strchr(argument, ' ');
	size_t len = pattern ? (size_t)(pattern - argument) : strlen(argument);
	char mode[16];

	if (len >= sizeof(mode)) {
		return EINVAL;
	}
	memcpy(mode, argument, len);
	mode[len] = '\0';
	if (pattern) {
		if (trace_file()) {
			return EBUSY; /* the pattern of that one is in use */
		}
		log_format(g.trace_pattern, sizeof(g.trace_pattern), "%s",
			pattern + 1);
	}
	return reply_trace(reply,
		trace_start(*mode && strcmp(mode, "-") != 0 ? mode : NULL,
			pattern ? g.trace_pattern : NULL));
}

static int run_trace_stop(struct reply *reply, const char *argument)
{
	return reply_trace(reply, trace_stop());
}

static int run_trace_snapshot(struct reply *reply, const char *argument)
{
	return reply_trace(reply, trace_snapshot());
}

/* Of the preload library; liballocmux, which replaces nothing, lacks it. */
extern int amux_detach(void) __attribute__((weak));

/* The channel was opened by attaching, and closes with its end. */
static int run_detach(struct reply *reply, const char *argument)
{
	int err = amux_detach ? amux_detach() : ENOTSUP;

	if (err != ENOTSUP) {
		control_stop();
	}
	return err;
}

static const struct command {
	const char *name;
	bool needs_argument;
	/* 0, or an errno value; `what` then explains it. */
	int (*run)(struct reply *reply, const char *argument);
	const char *what;
} commands[] = {
	{"ping", false, run_ping, ""},
	{"status", false, run_status, ""},
	{"switch", true, run_switch, "the backend cannot be used"},
	{"detach", false, run_detach,
		"it was started under the shim, not attached to"},
	{"trace-start", false, run_trace_start,
		"the trace cannot start: it runs already, its file cannot be "
		"written, or the mode is none of record, profile, sample"},
	{"trace-stop", false, run_trace_stop, "no trace is running"},
	{"trace-snapshot", false, run_trace_snapshot, "no trace is running"},
	{"trim", false, run_trim, ""},
};

static const struct command *command_named(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strcmp(commands[i].name, name)) {
			return &commands[i];
		}
	}
	return NULL;
}

void request_run(char *line, size_t len, struct reply *reply)
{
	struct request request;
	const struct command *command;
	int err;

	lifecycle_start();
	if (!request_parse(line, len, &request)) {
		reply_end(reply, EINVAL, "not a line of text");
		return;
	}
	command = command_named(request.command);
	if (!command) {
		reply_end(reply, ENOSYS, "no such command in this version");
		return;
	}
	if (command->needs_argument && !*request.argument) {
		reply_end(reply, EINVAL, "the command needs an argument");
		return;
	}
	err = command->run(reply, request.argument);
	reply_end(reply, err, command->what);
}
