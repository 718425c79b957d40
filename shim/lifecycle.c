/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.c - see lifecycle.h.
 *
 * Locks: g.lock around start and switch.
 * Fork: our handlers are registered at start, before the program's in almost
 * every case, so that our prepare runs after theirs and our child handler
 * before theirs. Where somebody came first, the forking thread may still
 * allocate while the locks are held (base/lock.h).
 */
#include "lifecycle.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>

#include <allocmux/allocmux.h>

#include "base/compiler.h"
#include "base/elfsym.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/os.h"
#include "base/syscall.h"
#include "blocktable.h"
#include "config.h"
#include "control.h"
#include "dispatch.h"
#include "loader.h"
#include "owner.h"
#include "registry.h"
#include "trace/trace.h"
#include "window.h"

enum { STRICT_STATUS = 127 };

static struct {
	struct lock lock;
	_Atomic bool started; /* sync: release after the tables */
	bool fork_handlers;   /* sync: lock */
	const char *pending;  /* sync: lock; to be loaded by constructor */
} g = {.lock = LOCK_INIT(LOCK_RANK_INIT)};

/* Every backend's hooks; id order, the same as rank order among equals. */

static void prefork(void)
{
	unsigned count = registry_count();

	lock_fork_begin();
	lock_prefork(&g.lock);
	registry_prefork();
	trace_prefork();
	dispatch_prefork();
	trace_prefork_file();
	for (unsigned id = 0; id < count; id++) {
		const struct amux_backend *b = dispatch_backend(id);

		if (b && b->prefork) {
			b->prefork();
		}
	}
	window_prefork();
	blocktable_prefork();
	owner_prefork();
}

static void postfork(bool child)
{
	unsigned count = registry_count();

	owner_postfork();
	blocktable_postfork();
	window_postfork();
	for (unsigned id = count; id-- > 0;) {
		const struct amux_backend *b = dispatch_backend(id);

		if (!b || !b->prefork) {
			continue;
		}
		if (child) {
			b->postfork_child();
		} else {
			b->postfork_parent();
		}
	}
	trace_postfork_file();
	dispatch_postfork();
	trace_postfork();
	registry_postfork();
	lock_postfork(&g.lock);
	lock_fork_end();
}

static void postfork_parent(void)
{
	postfork(false);
}

static void postfork_child(void)
{
	postfork(true);
	control_postfork_child();
}

/*
 * The function behind pthread_atfork(3) in glibc; musl has only the latter.
 * Weak, since a child of another libc inherits LD_PRELOAD.
 */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void),
	void (*child)(void), void *dso) __attribute__((weak));

static void register_fork_handlers(void)
{
	struct elf_object libc;
	int (*atfork)(void (*)(void), void (*)(void), void (*)(void));

	if (__register_atfork) {
		__register_atfork(
			prefork, postfork_parent, postfork_child, NULL);
		return;
	}
	if (elf_find_libc(&libc)) {
		atfork = elf_symbol(&libc, "pthread_atfork");
		if (atfork) {
			atfork(prefork, postfork_parent, postfork_child);
		}
	}
}

static void say_what_was_chosen(unsigned id)
{
	if (config_bool(OPTION_VERBOSE)) {
		log_line("backend %s (%s), chosen by %s", registry_name(id),
			registry_origin(id),
			config_is_set(OPTION_BACKEND) ? "ALLOC_BACKEND"
						      : "default");
	}
}

/* Load and activate what was asked for, or stay with libc. */
static void choose(const char *name)
{
	unsigned id = OWNER_LIBC;
	char why[REGISTRY_WHY_SIZE];

	if (registry_load(name, &id, why, sizeof(why))) {
		log_line("%s; %s", why,
			config_bool(OPTION_STRICT)
				? "not running the program (ALLOC_STRICT=1)"
				: "running on with system");
		if (config_bool(OPTION_STRICT)) {
			sys1(SYS_exit_group, STRICT_STATUS);
		}
	}
	dispatch_activate(id);
	say_what_was_chosen(id);
}

static AMUX_COLD void start(void)
{
	struct elf_object libc;
	const char *name;

	config_load();
	if (!registry_start() || !elf_find_libc(&libc)) {
		log_line("there is no C library with a malloc in this process");
		os_abort();
	}
	loader_start(&libc);
	if (strcmp(config_string(OPTION_BAD_FREE), "warn") == 0) {
		dispatch_distrust_libc();
	}
	if (strcmp(config_string(OPTION_DEEPBIND), "keep") != 0) {
		loader_real.dlopen_mask = ~RTLD_DEEPBIND;
	}
	name = config_string(OPTION_BACKEND);
	if (registry_is_builtin(name)) {
		choose(name);
	} else {
		registry_expect(name);
		g.pending = name;
		dispatch_activate(OWNER_LIBC);
	}
	trace_start_early();
}

void lifecycle_start(void)
{
	bool first = false;

	/* acquire: pairs with the release below. */
	if (likely(load_acquire(&g.started))) {
		return;
	}
	lock_acquire(&g.lock);
	if (!load_relaxed(&g.started)) {
		start();
		/* release: whoever sees it sees the dispatch tables. */
		store_release(&g.started, true);
		first = true;
	}
	lock_release(&g.lock);
	if (first) {
		register_fork_handlers(); /* allocates: by the new tables */
	}
}

void lifecycle_load_pending(void)
{
	const char *name;

	lifecycle_start();
	name = g.pending;
	if (name) {
		g.pending = NULL;
		choose(name);
		window_expect(OWNER_LIBC, NULL);
	}
}

int lifecycle_switch(const char *name, char *why, size_t size)
{
	unsigned id;
	int err;

	lifecycle_start();
	err = registry_load(name, &id, why, size);
	if (err) {
		return err;
	}
	lock_acquire(&g.lock);
	dispatch_activate(id);
	lock_release(&g.lock);
	return 0;
}
