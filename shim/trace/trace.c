/* SPDX-License-Identifier: MIT */
/*
 * trace.c - when a trace begins, pauses and ends, and what is said about it.
 *
 * States, each a table of operations: off (the plain table), waiting
 * (waiting.c: a delay or a threshold has not been reached, or somebody outside
 * may ask), tracing (record.c, profile.c, sample.c).
 *
 * Locks: g.lock around changes of state; only ever tried from inside an
 * allocation, where a change that does not succeed comes with the next tick.
 */
#include "trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <allocmux/allocmux.h>
#include <allocmux/trace.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/os.h"
#include "base/syscall.h"
#include "capture.h"
#include "config.h"
#include "dispatch.h"
#include "fallback.h"
#include "lanes.h"
#include "live.h"
#include "modules.h"
#include "options.h"
#include "profile.h"
#include "record.h"
#include "sample.h"
#include "sink.h"
#include "sites.h"
#include "stacks.h"
#include "waiting.h"

#pragma weak _dl_find_object

static struct {
	struct lock lock;
	struct trace_options options; /* sync: set before the first event */
	bool prepared;                /* sync: lock; there is a file */
	bool waiting;                 /* sync: lock */
	bool late;            /* sync: lock; what may allocate has been done */
	_Atomic bool tracing; /* sync: lock; read by trace_tick */
	uint64_t deadline;    /* sync: lock; 0: none */
	uint32_t snapshots;   /* sync: lock */
} g = {.lock = LOCK_INIT(LOCK_RANK_TRACE_STATE)};

/* ---- what the file says about the process ---- */

static void write_link(uint32_t key, const char *link)
{
	char path[4096];
	long ret = sys4(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path));

	if (!sys_failed(ret)) {
		sink_text(key, path, (size_t)ret);
	}
}

static void write_cmdline(void)
{
	long fd = sys4(SYS_openat, AT_FDCWD, "/proc/self/cmdline",
		O_RDONLY | O_CLOEXEC, 0);
	char text[4096];
	size_t length = 0;
	long ret;

	if (sys_failed(fd)) {
		return;
	}
	while (length < sizeof(text) && (ret = sys3(SYS_read, fd, text + length,
						 sizeof(text) - length)) > 0) {
		length += (size_t)ret;
	}
	sys1(SYS_close, fd);
	sink_text(AMUX_TRACE_TEXT_CMDLINE, text, length);
}

static void write_environment(void)
{
	char text[4096];
	size_t length = 0;

	for (char **entry = environ; entry && *entry; entry++) {
		size_t size = strlen(*entry) + 1;

		if (!strncmp(*entry, "ALLOC_", 6) &&
			size <= sizeof(text) - length) {
			memcpy(text + length, *entry, size);
			length += size;
		}
	}
	sink_text(AMUX_TRACE_TEXT_OPTIONS, text, length);
}

static void write_string(uint32_t key, const char *text)
{
	if (text) {
		sink_text(key, text, strlen(text));
	}
}

static void write_backend(void)
{
	const struct amux_backend *backend =
		dispatch_backend(dispatch_active());

	if (backend) {
		write_string(AMUX_TRACE_TEXT_BACKEND, backend->name);
		write_string(AMUX_TRACE_TEXT_BACKEND_VERSION, backend->version);
	}
}

static void write_process(void)
{
	write_link(AMUX_TRACE_TEXT_EXE, "/proc/self/exe");
	write_cmdline();
	write_link(AMUX_TRACE_TEXT_CWD, "/proc/self/cwd");
	write_backend();
	write_string(AMUX_TRACE_TEXT_VERSION, amux_version());
	write_environment();
}

static void write_control(uint32_t what, uint32_t number)
{
	struct amux_trace_info_control record = {
		.info = {.type = AMUX_TRACE_INFO_CONTROL},
		.what = what,
		.number = number,
	};
	struct sink_piece piece = {&record, sizeof(record)};

	sink_lock();
	sink_info_locked(&piece, 1);
	sink_unlock();
}

static void write_summary(void)
{
	struct lane_sums sums = lanes_sum();
	const struct amux_trace_file *header = sink_header();
	struct amux_trace_info_summary record = {
		.info = {.type = AMUX_TRACE_INFO_SUMMARY},
		.allocs = sums.allocs,
		.frees = sums.frees,
		.bytes = sums.bytes,
		.threads = sums.threads,
		.stacks = stacks_count(),
		.modules = modules_count(),
		.lost_events = header->lost_events,
		.lost_bytes = header->lost_bytes,
	};
	struct sink_piece piece = {&record, sizeof(record)};

	sink_lock();
	sink_info_locked(&piece, 1);
	sink_unlock();
}

/* ---- preparation ---- */

/* Our own frames do not belong to the program's stacks. */
static void cut_own_frames(void)
{
	struct dl_find_object found;

	/* Linked into the program itself there is nothing to tell us apart. */
	if (_dl_find_object((void *)(uintptr_t)cut_own_frames, &found) == 0 &&
		found.dlfo_link_map->l_name[0] != '\0') {
		capture_cut((uint64_t)(uintptr_t)found.dlfo_map_start,
			(uint64_t)(uintptr_t)found.dlfo_map_end);
	}
}

static int prepare(void)
{
	struct sink_options options = {
		.pattern = g.options.pattern,
		.mode = g.options.mode,
		.block_size = TRACE_BLOCK_SIZE,
		.size_limit = g.options.size_limit,
		.ring = g.options.ring,
		.interval = g.options.interval,
		.features = AMUX_TRACE_F_USABLE | g.options.features,
	};
	int err;

	if (!_dl_find_object) {
		log_line("tracing needs glibc 2.35 or later; not tracing");
		return -ENOSYS;
	}
	err = lanes_start();
	if (err) {
		log_line("cannot trace: no memory of the kind that fork "
			 "wipes (error %d); not tracing",
			-err);
		return err;
	}
	err = sink_open(&options);
	if (err) {
		log_line("cannot create trace file %s: %s; not tracing",
			g.options.pattern, options_error(-err));
		return err;
	}
	cut_own_frames();
	sample_set_interval(g.options.interval);
	write_process();
	return 0;
}

static const struct dispatch_ops *tracing_ops(void)
{
	switch (g.options.mode) {
	case AMUX_TRACE_PROFILE:
		return &profile_ops;
	case AMUX_TRACE_SAMPLE:
		return &sample_ops;
	default:
		return &record_ops;
	}
}

static int begin_locked(void)
{
	int err = 0;

	if (!g.prepared) {
		err = prepare();
		g.prepared = err == 0;
	} else {
		sink_resume();
	}
	if (err) {
		return err;
	}
	write_control(AMUX_TRACE_CONTROL_START, 0);
	g.deadline =
		g.options.duration_ns ? sink_now() + g.options.duration_ns : 0;
	store_relaxed(&g.tracing, true);
	dispatch_wrap(tracing_ops());
	return 0;
}

static void end_locked(uint32_t state)
{
	dispatch_wrap(NULL);
	store_relaxed(&g.tracing, false);
	write_control(AMUX_TRACE_CONTROL_STOP, 0);
	sink_finish(state);
}

void trace_start_early(void)
{
	if (!options_from_environment(&g.options)) {
		return;
	}
	lock_acquire(&g.lock);
	if (g.options.delay_ns || g.options.live_bytes) {
		g.waiting = true;
		waiting_set(g.options.delay_ns, g.options.live_bytes);
		dispatch_wrap(&waiting_ops);
	} else {
		g.options.features |= AMUX_TRACE_F_STARTUP;
		begin_locked();
	}
	lock_release(&g.lock);
}

static void prepare_late(void)
{
	struct lane *lane = lanes_pause();

	fallback_start();
	lanes_watch_exits();
	lanes_unpause(lane);
}

void trace_start_late(void)
{
	if (g.prepared || g.waiting) {
		prepare_late();
		g.late = true;
	}
}

/* Inside an allocation: a start that cannot have the lock comes later. */
void trace_begin_waiting(void)
{
	if (!lock_try_acquire(&g.lock)) {
		return;
	}
	if (g.waiting) {
		g.waiting = false;
		if (begin_locked() != 0) {
			dispatch_wrap(NULL);
		}
	}
	lock_release(&g.lock);
}

int trace_start(const char *mode, const char *pattern)
{
	uint32_t number = mode ? options_mode(mode) : g.options.mode;
	int err = 0;

	lock_acquire(&g.lock);
	if (load_relaxed(&g.tracing)) {
		err = EALREADY;
	} else if (mode && number == 0) {
		log_line("there is no trace mode %s; it is record, profile or "
			 "sample",
			mode);
		err = EINVAL;
	} else if (g.prepared && (pattern || number != g.options.mode)) {
		log_line("a trace of this process exists: it can be gone on "
			 "with, in its mode and file only");
		err = EBUSY;
	} else {
		if (!g.prepared) {
			options_complete(&g.options, number, pattern);
		}
		g.waiting = false;
		err = -begin_locked();
	}
	lock_release(&g.lock);
	if (!err && !g.late) {
		g.late = true;
		prepare_late();
	}
	return err;
}

int trace_stop(void)
{
	int err = 0;

	lock_acquire(&g.lock);
	if (load_relaxed(&g.tracing)) {
		end_locked(AMUX_TRACE_STOPPED);
	} else if (g.waiting) {
		g.waiting = false;
		dispatch_wrap(NULL);
	} else {
		err = EALREADY;
	}
	lock_release(&g.lock);
	return err;
}

int trace_snapshot(void)
{
	int err = 0;

	lock_acquire(&g.lock);
	if (load_relaxed(&g.tracing)) {
		g.snapshots++;
		if (g.options.mode == AMUX_TRACE_PROFILE) {
			sites_snapshot(g.snapshots);
		}
		write_control(AMUX_TRACE_CONTROL_SNAPSHOT, g.snapshots);
	} else {
		err = EINVAL;
	}
	lock_release(&g.lock);
	return err;
}

bool trace_is_running(void)
{
	return load_relaxed(&g.tracing);
}

const char *trace_file(void)
{
	return g.prepared ? sink_path() : NULL;
}

void trace_finish(void)
{
	if (!load_relaxed(&g.tracing)) {
		return;
	}
	write_summary();
	sink_finish(AMUX_TRACE_FINISHED);
}

/* ---- of the lanes ---- */

void trace_tick(uint64_t now)
{
	if (unlikely(g.deadline && now >= g.deadline) &&
		lock_try_acquire(&g.lock)) {
		if (load_relaxed(&g.tracing)) {
			end_locked(AMUX_TRACE_STOPPED);
		}
		lock_release(&g.lock);
	}
}

bool trace_begin_child(void)
{
	int err;

	lock_init(&g.lock, LOCK_RANK_TRACE_STATE);
	if (!load_relaxed(&g.tracing)) {
		return false;
	}
	stacks_reset();
	modules_reset();
	live_reset();
	sites_reset();
	sample_reset();
	err = sink_reopen_in_child();
	if (err) {
		store_relaxed(&g.tracing, false);
		dispatch_wrap(NULL);
		log_line("cannot create a trace file for the child: %s; not "
			 "tracing it",
			options_error(-err));
		return false;
	}
	write_process();
	return true;
}

void trace_prefork(void)
{
	lock_prefork(&g.lock);
}

void trace_prefork_file(void)
{
	lanes_prefork();
	live_prefork();
}

void trace_postfork_file(void)
{
	live_postfork();
	lanes_postfork();
}

void trace_postfork(void)
{
	lock_postfork(&g.lock);
}
