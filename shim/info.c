/* SPDX-License-Identifier: MIT */
/*
 * info.c - see info.h.
 */
#include "info.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/log.h"
#include "base/os.h"
#include "dispatch.h"
#include "owner.h"
#include "system/system.h"

/* These calls may be the first of the process. */
static const struct amux_backend *active_backend(void)
{
	lifecycle_start();
	return dispatch_backend(dispatch_active());
}

static bool system_is_active(void)
{
	lifecycle_start();
	return dispatch_active() == OWNER_LIBC;
}

static void read_stats(struct amux_stats *stats)
{
	const struct amux_backend *b = active_backend();

	memset(stats, 0, sizeof(*stats));
	if (b->stats) {
		b->stats(stats);
	}
}

int info_mallopt(int param, int value)
{
	const struct amux_backend *b = active_backend();

	return b->option ? b->option(param, value) : 0;
}

int info_trim(size_t pad)
{
	const struct amux_backend *b = active_backend();
	const struct amux_backend *libc = dispatch_backend(OWNER_LIBC);
	int trimmed = b->trim ? b->trim(pad) : 0;

	if (b != libc && libc->trim) {
		trimmed |= libc->trim(pad);
	}
	return trimmed;
}

struct mallinfo2 info_mallinfo2(void)
{
	const struct system_extra *libc = system_extra();
	struct mallinfo2 info = {0};
	struct amux_stats stats;

	if (system_is_active() && libc->mallinfo2) {
		return libc->mallinfo2();
	}
	read_stats(&stats);
	info.arena = stats.mapped_bytes - stats.large_bytes;
	info.ordblks = stats.live_blocks;
	info.hblks = stats.large_blocks;
	info.hblkhd = stats.large_bytes;
	info.uordblks = stats.live_bytes - stats.large_bytes;
	info.fordblks =
		info.arena > info.uordblks ? info.arena - info.uordblks : 0;
	info.keepcost = stats.cached_bytes;
	return info;
}

static int saturate(size_t n)
{
	return n > INT_MAX ? INT_MAX : (int)n;
}

struct mallinfo info_mallinfo(void)
{
	struct mallinfo2 wide = info_mallinfo2();

	return (struct mallinfo){
		.arena = saturate(wide.arena),
		.ordblks = saturate(wide.ordblks),
		.smblks = saturate(wide.smblks),
		.hblks = saturate(wide.hblks),
		.hblkhd = saturate(wide.hblkhd),
		.usmblks = saturate(wide.usmblks),
		.fsmblks = saturate(wide.fsmblks),
		.uordblks = saturate(wide.uordblks),
		.fordblks = saturate(wide.fordblks),
		.keepcost = saturate(wide.keepcost),
	};
}

/* One figure of amux_stats, for both printers. */
struct figure {
	const char *name;
	size_t offset;
};

static const struct figure figures[] = {
	{"live_bytes", offsetof(struct amux_stats, live_bytes)},
	{"live_blocks", offsetof(struct amux_stats, live_blocks)},
	{"cached_bytes", offsetof(struct amux_stats, cached_bytes)},
	{"active_bytes", offsetof(struct amux_stats, active_bytes)},
	{"mapped_bytes", offsetof(struct amux_stats, mapped_bytes)},
	{"reserved_bytes", offsetof(struct amux_stats, reserved_bytes)},
	{"metadata_bytes", offsetof(struct amux_stats, metadata_bytes)},
	{"large_bytes", offsetof(struct amux_stats, large_bytes)},
	{"large_blocks", offsetof(struct amux_stats, large_blocks)},
	{"returned_bytes", offsetof(struct amux_stats, returned_bytes)},
};

enum { FIGURES = sizeof(figures) / sizeof(figures[0]) };

static unsigned long figure_value(const struct amux_stats *stats, int i)
{
	uint64_t value;

	memcpy(&value, (const char *)stats + figures[i].offset, sizeof(value));
	return value;
}

void info_print_stats(void)
{
	const struct system_extra *libc = system_extra();
	struct amux_stats stats;

	if (system_is_active() && libc->malloc_stats) {
		libc->malloc_stats();
		return;
	}
	read_stats(&stats);
	log_line("backend %s", active_backend()->name);
	for (int i = 0; i < FIGURES; i++) {
		log_line("  %s %lu", figures[i].name, figure_value(&stats, i));
	}
}

int info_write_xml(int options, FILE *stream)
{
	const struct system_extra *libc = system_extra();
	struct amux_stats stats;

	if (options != 0) {
		return EINVAL;
	}
	if (system_is_active() && libc->malloc_info) {
		return libc->malloc_info(options, stream);
	}
	read_stats(&stats);
	fprintf(stream, "<malloc version=\"1\">\n<allocmux backend=\"%s\">\n",
		active_backend()->name);
	for (int i = 0; i < FIGURES; i++) {
		fprintf(stream, "<figure name=\"%s\" value=\"%lu\"/>\n",
			figures[i].name, figure_value(&stats, i));
	}
	fprintf(stream,
		"</allocmux>\n"
		"<system type=\"current\" size=\"%lu\"/>\n"
		"<aspace type=\"total\" size=\"%lu\"/>\n"
		"</malloc>\n",
		(unsigned long)stats.mapped_bytes,
		(unsigned long)stats.reserved_bytes);
	return 0;
}
