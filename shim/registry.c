/* SPDX-License-Identifier: MIT */
/*
 * registry.c - see registry.h.
 *
 * Invariants:
 *   - an entry's id is its index; entry 0 is libc;
 *   - an entry is complete before dispatch_add_owner() makes it known, and
 *     never changes after.
 * Locks: g.lock around loading.
 */
#include "registry.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "base/bits.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/os.h"
#include "builtin.h"
#include "config.h"
#include "dispatch.h"
#include "external.h"
#include "host.h"
#include "loader.h"
#include "owner.h"
#include "system/system.h"
#include "window.h"

/* Where `cmake --install` puts plugins. */
#ifndef AMUX_PLUGIN_DIR
	#error "the build defines AMUX_PLUGIN_DIR"
#endif

enum { PATH_SIZE = 512, WHY_SIZE = 512, NAME_SIZE = 64 };

struct entry {
	struct amux_backend table;
	struct amux_host host;
	char name[NAME_SIZE];
	char origin[PATH_SIZE];
	bool adopted; /* nobody has asked for it yet; see registry_adopt() */
};

/* Apart from g, which has initialisers, so that it takes no place in the file.
 * sync: g.lock, then constant. */
static struct entry entries[OWNER_LIMIT];

static struct {
	struct lock lock;
	_Atomic unsigned count; /* sync: release after the entry */
	unsigned
		expected; /* sync: lock; the id that waits for its load, or 0 */
} g = {.lock = LOCK_INIT(LOCK_RANK_REGISTRY)};

/* The outcome of one attempt to load. */
struct attempt {
	const char *name;
	unsigned id;
	char path[PATH_SIZE];
	char why[WHY_SIZE]; /* empty: not found here, look further */
};

const char *registry_name(unsigned id)
{
	return entries[id].name;
}

const char *registry_origin(unsigned id)
{
	return entries[id].origin;
}

unsigned registry_count(void)
{
	return load_acquire(&g.count);
}

static void copy_string(char *to, size_t size, const char *from)
{
	log_format(to, size, "%s", from);
}

bool registry_start(void)
{
	const struct amux_backend *libc = system_load();
	struct entry *entry = &entries[OWNER_LIBC];

	if (!libc) {
		return false;
	}
	entry->table = *libc;
	copy_string(entry->name, sizeof(entry->name), libc->name);
	copy_string(entry->origin, sizeof(entry->origin), "libc");
	dispatch_add_owner(OWNER_LIBC, &entry->table);
	store_release(&g.count, 1u);
	return true;
}

static const struct amux_backend *builtin_named(const char *name)
{
	const struct amux_backend *b;

	for (unsigned i = 0; (b = builtin_backend(i)); i++) {
		if (!strcmp(b->name, name)) {
			return b;
		}
	}
	return NULL;
}

bool registry_is_builtin(const char *name)
{
	return !strcmp(name, entries[OWNER_LIBC].name) ||
	       builtin_named(name) != NULL;
}

/* Check a table of any age and copy what we know of it. False: see why. */
static bool accept_table(const struct amux_backend *theirs,
	struct amux_backend *ours, struct attempt *attempt)
{
	const size_t least = offsetof(struct amux_backend, usable_size) +
			     sizeof(ours->usable_size);
	const char *why = NULL;

	if (theirs->abi != AMUX_BACKEND_ABI) {
		log_format(attempt->why, WHY_SIZE,
			"its table has ABI %u, this host speaks %u",
			theirs->abi, AMUX_BACKEND_ABI);
		return false;
	}
	if (theirs->size < least) {
		log_format(attempt->why, WHY_SIZE,
			"its table has %u bytes, at least %zu are needed",
			theirs->size, least);
		return false;
	}
	memset(ours, 0, sizeof(*ours));
	memcpy(ours, theirs,
		theirs->size < sizeof(*ours) ? theirs->size : sizeof(*ours));
	ours->size = sizeof(*ours);
	if (!ours->name || !*ours->name) {
		why = "its table has no name";
	} else if (ours->caps & ~AMUX_CAP_ALL) {
		why = "it asks for capabilities this host does not know";
	} else if (!ours->malloc || !ours->free || !ours->usable_size) {
		why = "its table lacks malloc, free or usable_size";
	} else if (!ours->prefork != !ours->postfork_parent ||
		   !ours->prefork != !ours->postfork_child) {
		why = "its table has some fork slots but not all";
	}
	if (why) {
		copy_string(attempt->why, WHY_SIZE, why);
		return false;
	}
	return true;
}

/*
 * The slot for a new entry. Its id is used up even if loading fails, since code
 * of the failed one may already be in the process.
 */
static struct entry *new_entry(struct attempt *attempt)
{
	unsigned id = g.expected;

	if (id && !strcmp(entries[id].name, attempt->name)) {
		g.expected = 0;
		attempt->id = id;
		return &entries[id];
	}
	/* Atomic, since adoption does not take the lock. */
	id = add_acq_rel(&g.count, 1u);
	if (id >= OWNER_LIMIT) {
		sub_acq_rel(&g.count, 1u);
		log_format(attempt->why, WHY_SIZE,
			"%d backends are loaded already", OWNER_LIMIT);
		return NULL;
	}
	attempt->id = id;
	copy_string(entries[id].name, NAME_SIZE, attempt->name);
	host_init(&entries[id].host, id);
	return &entries[id];
}

/* The entry is complete: run its init and make it known. */
static bool commit_entry(struct entry *entry, struct attempt *attempt)
{
	if (entry->table.init) {
		int err = entry->table.init(&entry->host);

		if (err) {
			log_format(attempt->why, WHY_SIZE,
				"its start failed with errno %d", err);
			return false;
		}
	}
	copy_string(entry->origin, PATH_SIZE, attempt->path);
	dispatch_add_owner(attempt->id, &entry->table);
	return true;
}

static bool load_builtin(struct attempt *attempt)
{
	const struct amux_backend *builtin = builtin_named(attempt->name);
	struct entry *entry = builtin ? new_entry(attempt) : NULL;

	if (!entry) {
		return false;
	}
	copy_string(attempt->path, PATH_SIZE, "built in");
	entry->table = *builtin;
	return commit_entry(entry, attempt);
}

static bool load_plugin(
	const struct amux_backend *theirs, struct attempt *attempt)
{
	struct entry *entry = &entries[attempt->id];
	struct elf_object module;

	if (!accept_table(theirs, &entry->table, attempt)) {
		return false;
	}
	/* A plugin may simply call mmap: then its window is its range. */
	if (elf_find_by_address(theirs, &module)) {
		window_add_module(attempt->id, &module);
	}
	return commit_entry(entry, attempt);
}

static bool load_library(void *handle, const struct known_library *known,
	struct attempt *attempt)
{
	struct entry *entry = &entries[attempt->id];

	return external_load(handle, known, attempt->id, &entry->table,
		       attempt->why, WHY_SIZE) == 0 &&
	       commit_entry(entry, attempt);
}

/* The file that an open handle was loaded from. */
static void note_path(void *handle, struct attempt *attempt)
{
	struct link_map *map = handle; /* dlopen(3): a handle is its map */

	if (map && map->l_name && *map->l_name) {
		copy_string(attempt->path, PATH_SIZE, map->l_name);
	}
}

/* A library that was adopted keeps its id and its window when asked for. */
static bool find_adopted(const char *file, struct attempt *attempt)
{
	const char *slash = strrchr(file, '/');
	unsigned count = registry_count();

	for (unsigned id = OWNER_FIRST; id < count; id++) {
		if (entries[id].adopted &&
			!strcmp(entries[id].name, slash ? slash + 1 : file)) {
			attempt->id = id;
			return true;
		}
	}
	return false;
}

/* Open a file as a plugin or as a library. */
static bool load_file(const char *file, const struct known_library *known,
	struct attempt *attempt)
{
	const struct amux_backend *table;
	void *handle;
	bool loaded;
	bool adopted = find_adopted(file, attempt);

	if (!adopted) {
		if (!new_entry(attempt)) {
			return false;
		}
		window_create(attempt->id);
	}
	window_begin_load(attempt->id);
	handle = loader_open(file, RTLD_NOW | RTLD_LOCAL);
	window_end_load();
	if (!handle) {
		copy_string(attempt->why, WHY_SIZE, loader_error());
		return false;
	}
	note_path(handle, attempt);
	table = loader_symbol(handle, "allocmux_backend");
	loaded = table ? load_plugin(table, attempt)
		       : load_library(handle, known, attempt);
	if (loaded) {
		copy_string(
			entries[attempt->id].name, NAME_SIZE, attempt->name);
		entries[attempt->id].adopted = false;
		/* Its code may be on any stack from now on: pin it. */
		loader_open(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	}
	return loaded;
}

static bool load_known_library(
	const struct known_library *known, struct attempt *attempt)
{
	for (const char *const *s = known->sonames; *s; s++) {
		if (load_file(*s, known, attempt)) {
			return true;
		}
		/* The first failure that is not "no such file" counts. */
		if (!strstr(attempt->why, "No such file")) {
			break;
		}
	}
	if (strstr(attempt->why, "static TLS")) {
		log_format(attempt->why, WHY_SIZE,
			"too much static TLS to be loaded late; start the "
			"program with: allocmux run --backend %s",
			attempt->name);
	}
	return false;
}

/* Does a name make a file name? Letters, digits, '-', '_', '.'. */
static bool is_plain_name(const char *name)
{
	for (const char *c = name; *c; c++) {
		if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
			    (*c >= '0' && *c <= '9') || *c == '-' ||
			    *c == '_' || *c == '.')) {
			return false;
		}
	}
	return *name != '\0';
}

bool registry_find_plugin(const char *name, char *path, size_t size)
{
	const char *dirs = config_string(OPTION_PLUGIN_PATH);
	char dir[PATH_SIZE];

	if (!is_plain_name(name)) {
		return false;
	}
	for (const char *d = dirs; d && *d;) {
		size_t len = strcspn(d, ":");

		log_format(dir, len + 1 < sizeof(dir) ? len + 1 : sizeof(dir),
			"%s", d);
		log_format(path, size, "%s/%s.so", dir, name);
		if (os_file_is_readable(path)) {
			return true;
		}
		d += len + (d[len] == ':');
	}
	log_format(path, size, "%s/%s.so", AMUX_PLUGIN_DIR, name);
	return os_file_is_readable(path);
}

/* "system, percpu, ...": what ALLOC_BACKEND may be. */
static void list_names(char *buf, size_t size)
{
	const struct amux_backend *b;
	const struct known_library *l;
	size_t len = log_format(buf, size, "system");

	for (unsigned i = 0; (b = builtin_backend(i)); i++) {
		len += log_format(buf + len, size - len, ", %s", b->name);
	}
	for (size_t i = 0; (l = registry_library(i)); i++) {
		len += log_format(buf + len, size - len, ", %s", l->name);
	}
}

static bool load_anything(struct attempt *attempt)
{
	const struct known_library *known;
	char path[PATH_SIZE];

	if (builtin_named(attempt->name)) {
		return load_builtin(attempt);
	}
	if (strchr(attempt->name, '/')) {
		return load_file(attempt->name, NULL, attempt);
	}
	if (registry_find_plugin(attempt->name, path, sizeof(path))) {
		return load_file(path, NULL, attempt);
	}
	known = registry_library_named(attempt->name);
	if (known) {
		return load_known_library(known, attempt);
	}
	log_format(attempt->why, WHY_SIZE,
		"no built-in, no plugin in %s%s%s, no known library of that "
		"name",
		config_is_set(OPTION_PLUGIN_PATH)
			? config_string(OPTION_PLUGIN_PATH)
			: "",
		config_is_set(OPTION_PLUGIN_PATH) ? " or " : "",
		AMUX_PLUGIN_DIR);
	return false;
}

/* The id of a backend that is loaded already, or -1. */
static int find_loaded(const char *name)
{
	unsigned count = load_relaxed(&g.count);

	for (unsigned id = 0; id < count; id++) {
		if (!strcmp(entries[id].name, name) && dispatch_backend(id)) {
			return (int)id;
		}
	}
	return -1;
}

int registry_load(const char *name, unsigned *id, char *why, size_t size)
{
	struct attempt attempt = {.name = name};
	char names[WHY_SIZE];
	int loaded;

	lock_acquire(&g.lock);
	loaded = find_loaded(name);
	if (loaded < 0 && load_anything(&attempt)) {
		loaded = (int)attempt.id;
	}
	lock_release(&g.lock);
	if (loaded < 0) {
		list_names(names, sizeof(names));
		log_format(why, size,
			"backend \"%s\": %s; known: %s, or a path", name,
			attempt.why, names);
		return ENOENT;
	}
	*id = (unsigned)loaded;
	return 0;
}

void registry_expect(const char *name)
{
	const struct known_library *known = registry_library_named(name);
	struct attempt attempt = {.name = name};

	if (!known || !new_entry(&attempt)) {
		return;
	}
	g.expected = attempt.id;
	window_create(attempt.id);
	window_expect(attempt.id, known->sonames);
}

unsigned registry_adopt(const struct elf_object *module)
{
	struct elf_object libc;
	struct attempt attempt = {.name = module->name};
	const char *slash = strrchr(module->name ? module->name : "", '/');
	void *theirs = elf_symbol(module, "malloc");
	struct entry *entry;

	if (!theirs || !elf_symbol(module, "free") ||
		!elf_symbol(module, "realloc") ||
		(elf_find_libc(&libc) && libc.base == module->base) ||
		(uintptr_t)registry_adopt - module->start <
			module->end - module->start) {
		return OWNER_LIBC;
	}
	attempt.name = slash ? slash + 1 : "program";
	entry = new_entry(&attempt);
	if (!entry) {
		return OWNER_LIBC;
	}
	entry->table = (struct amux_backend){
		.abi = AMUX_BACKEND_ABI,
		.size = sizeof(entry->table),
		.name = entry->name,
		.malloc = theirs,
		.free = elf_symbol(module, "free"),
		.realloc = elf_symbol(module, "realloc"),
		.usable_size = elf_symbol(module, "malloc_usable_size"),
	};
	entry->adopted = true;
	copy_string(entry->origin, PATH_SIZE,
		module->name ? module->name : "the program");
	window_create(attempt.id);
	dispatch_add_owner(attempt.id, &entry->table);
	return attempt.id;
}

void registry_prefork(void)
{
	lock_prefork(&g.lock);
}

void registry_postfork(void)
{
	lock_postfork(&g.lock);
}
