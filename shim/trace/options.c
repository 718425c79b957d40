/* SPDX-License-Identifier: MIT */
/*
 * options.c - reads ALLOC_TRACE and its companions (config.c lists them).
 */
#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <allocmux/trace.h>

#include "base/log.h"
#include "config.h"

#define NS_PER_SECOND 1000000000u

uint32_t options_mode(const char *name)
{
	if (!strcmp(name, "record")) {
		return AMUX_TRACE_RECORD;
	}
	if (!strcmp(name, "profile")) {
		return AMUX_TRACE_PROFILE;
	}
	return !strcmp(name, "sample") ? AMUX_TRACE_SAMPLE : 0;
}

/*
 * Digits with an optional fraction, times `unit`: "1.5" seconds is 1.5e9 ns.
 * Returns what follows, NULL if there is no number or it does not fit.
 */
static const char *read_number(const char *text, uint64_t unit, uint64_t *out)
{
	uint64_t value = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(
				value, (uint64_t)(*p - '0'), &value)) {
			return NULL;
		}
	}
	if (p == text || __builtin_mul_overflow(value, unit, &value)) {
		return NULL;
	}
	if (*p == '.') {
		for (p++; *p >= '0' && *p <= '9'; p++) {
			unit /= 10;
			value += unit * (uint64_t)(*p - '0');
		}
	}
	*out = value;
	return p;
}

static void complain(enum option_id id, const char *wanted)
{
	log_line("trace option %s is not %s; ignoring it", config_string(id),
		wanted);
}

static uint64_t seconds(enum option_id id)
{
	const char *text = config_string(id);
	const char *rest;
	uint64_t ns = 0;

	if (!text) {
		return 0;
	}
	rest = read_number(text, NS_PER_SECOND, &ns);
	if (!rest || (*rest && strcmp(rest, "s"))) {
		complain(id, "a number of seconds");
		return 0;
	}
	return ns;
}

static uint64_t bytes(enum option_id id, uint64_t fallback)
{
	static const char suffixes[] = "kmgt";
	const char *text = config_string(id);
	const char *suffix;
	const char *rest;
	uint64_t value;

	if (!text) {
		return fallback;
	}
	rest = read_number(text, 1, &value);
	if (rest && *rest) {
		suffix = strchr(suffixes, *rest | 0x20);
		rest = suffix && !rest[1] ? suffix : NULL;
		if (rest && __builtin_mul_overflow(value,
				    (uint64_t)1 << 10 * (suffix - suffixes + 1),
				    &value)) {
			rest = NULL;
		}
	}
	if (!rest) {
		complain(id, "a number of bytes such as 64k, 512m or 2g");
		return fallback;
	}
	return value;
}

static void read_all(struct trace_options *options)
{
	*options = (struct trace_options){
		.mode = AMUX_TRACE_RECORD,
		.pattern = config_string(OPTION_TRACE_FILE),
		.delay_ns = seconds(OPTION_TRACE_DELAY),
		.duration_ns = seconds(OPTION_TRACE_DURATION),
		.live_bytes = bytes(OPTION_TRACE_LIVE, 0),
		.size_limit = bytes(OPTION_TRACE_SIZE_LIMIT, 0),
		.interval = bytes(OPTION_SAMPLE_BYTES, 512 * 1024),
		.ring = config_bool(OPTION_TRACE_RING),
	};
}

bool options_from_environment(struct trace_options *options)
{
	const char *mode = config_string(OPTION_TRACE);

	if (!mode) {
		return false;
	}
	read_all(options);
	options->mode = options_mode(mode);
	return options->mode != 0;
}

void options_complete(
	struct trace_options *options, uint32_t mode, const char *pattern)
{
	if (options->mode == 0) {
		read_all(options);
	}
	if (mode) {
		options->mode = mode;
	}
	if (pattern) {
		options->pattern = pattern;
	}
}

const char *options_error(int error)
{
	static const struct {
		int error;
		const char *words;
	} known[] = {
		{EACCES, "permission denied"},
		{ENOENT, "the folder does not exist"},
		{ENOTDIR, "a part of the path is not a folder"},
		{EROFS, "the file system is read-only"},
		{ENOSPC, "no space left on the device"},
		{EDQUOT, "the disk quota is used up"},
		{EFBIG, "the file would be larger than allowed"},
		{ENAMETOOLONG, "the name is too long"},
		{EEXIST, "10000 files of that name exist"},
		{EMFILE, "the process has no free descriptor"},
		{ENFILE, "the system has no free descriptor"},
		{ENOMEM, "no memory to map it"},
		{ENODEV, "its file system cannot be mapped"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].error == error) {
			return known[i].words;
		}
	}
	return "the kernel refused";
}
