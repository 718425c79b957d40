/* SPDX-License-Identifier: MIT */
/*
 * window.c - placement of an unmodified library's mappings.
 *
 * Invariants:
 *   - a page of a window is either in its free list, where it is reserved
 *     (PROT_NONE), or mapped by the library;
 *   - modules are only added; a slot is complete before the count covers it.
 * Locks: g.lock around windows and the list of modules. No lock is held when
 * the owner map's is needed, except in rank order (window before owner).
 */
#include "window.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <link.h>

#include "base/bits.h"
#include "base/compiler.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/syscall.h"
#include "extents.h"
#include "owner.h"
#include "registry.h"

enum { MAX_MODULES = 256, MAX_WINDOWS = OWNER_LIMIT };

/* Mappings of this size or more are aligned to it, as libraries hope for. */
#define WINDOW_ALIGN ((size_t)2 << 20)

/* Address space for one library; halved until the kernel agrees. */
#define WINDOW_MOST  ((size_t)1 << 40)
#define WINDOW_LEAST ((size_t)16 << 20)

struct window {
	uintptr_t start, end; /* sync: lock; empty if no space was found */
	struct extents free;  /* sync: lock */
	size_t mapped;        /* sync: lock */
};

struct module {
	uintptr_t start, end;
	_Atomic unsigned id; /* sync: atomic; OWNER_LIBC: not an allocator */
};

/* Apart from g, which has initialisers, so that they take no place in the
 * file. */
static struct window windows[MAX_WINDOWS]; /* sync: g.lock */
static struct module modules[MAX_MODULES]; /* sync: g.module_count */

static struct {
	struct lock lock;            /* sync: itself */
	_Atomic size_t module_count; /* sync: release after the slot */

	void *loading_thread; /* sync: that thread */
	unsigned loading_id;
	uintptr_t *known_bases; /* modules from before the load */
	size_t known_count;

	const char *const *expected; /* sync: set before threads */
	unsigned expected_id;
} g = {.lock = LOCK_INIT(LOCK_RANK_WINDOW)};

void window_create(unsigned id)
{
	struct window *w = &windows[id];
	size_t limit = os_address_limit();
	size_t size = WINDOW_MOST;
	void *addr;

	if (w->end) {
		return; /* expected before it was loaded */
	}
	/* Under a limit, most of the space must stay for everybody else. */
	while (limit != SIZE_MAX && size > limit / 8) {
		size /= 2;
	}
	for (; size >= WINDOW_LEAST; size /= 2) {
		size_t align =
			size < OWNER_GRANULE ? WINDOW_ALIGN : OWNER_GRANULE;

		if (os_reserve_aligned(size, align, &addr) == 0) {
			break;
		}
	}
	if (size < WINDOW_LEAST) {
		return;
	}
	if (owner_register(addr, size, id)) {
		os_unmap(addr, size);
		return;
	}
	w->start = (uintptr_t)addr;
	w->end = w->start + size;
	extents_add(&w->free, w->start, w->end);
}

void window_add_module(unsigned id, const struct elf_object *module)
{
	lock_acquire(&g.lock);

	size_t count = load_relaxed(&g.module_count);

	for (size_t i = 0; i < count; i++) {
		if (modules[i].start == module->start) {
			if (id) {
				store_relaxed(&modules[i].id, id);
			}
			lock_release(&g.lock);
			return;
		}
	}
	if (count < MAX_MODULES) {
		modules[count] =
			(struct module){module->start, module->end, id};
		/* release: pairs with the acquire in window_caller(). */
		store_release(&g.module_count, count + 1);
	}
	lock_release(&g.lock);
}

static int remember_base(struct dl_phdr_info *info, size_t size, void *arg)
{
	size_t room = *(size_t *)arg;

	if (g.known_count < room) {
		g.known_bases[g.known_count++] = info->dlpi_addr;
	}
	return 0;
}

enum { KNOWN_BYTES = 64 * 1024 };

void window_begin_load(unsigned id)
{
	size_t room = KNOWN_BYTES / sizeof(g.known_bases[0]);
	void *addr;

	g.known_count = 0;
	if (os_map(KNOWN_BYTES, &addr)) {
		return;
	}
	g.known_bases = addr;
	dl_iterate_phdr(remember_base, &room);
	g.loading_id = id;
	g.loading_thread = __builtin_thread_pointer();
}

static bool is_known_base(uintptr_t base)
{
	for (size_t i = 0; i < g.known_count; i++) {
		if (g.known_bases[i] == base) {
			return true;
		}
	}
	return false;
}

void window_end_load(void)
{
	if (g.known_bases) {
		os_unmap(g.known_bases, KNOWN_BYTES);
	}
	g.known_bases = NULL;
	g.loading_thread = NULL;
}

void window_expect(unsigned id, const char *const *sonames)
{
	g.expected_id = id;
	g.expected = sonames;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_expected(const struct elf_object *module)
{
	const char *file = base_name(module->name ? module->name : "");

	for (const char *const *s = g.expected; s && *s; s++) {
		if (!strcmp(file, base_name(*s)) ||
			(module->soname && !strcmp(module->soname, *s))) {
			return true;
		}
	}
	return false;
}

/* The first call of a module: whose is it? Decided once, also for nobody's. */
static AMUX_COLD unsigned unknown_caller(const void *caller)
{
	struct elf_object module;
	unsigned id;

	if (!elf_find_by_address(caller, &module)) {
		return OWNER_LIBC; /* generated code */
	}
	if (g.loading_thread == __builtin_thread_pointer() &&
		!is_known_base(module.base)) {
		id = g.loading_id;
	} else if (is_expected(&module)) {
		id = g.expected_id;
	} else {
		id = registry_adopt(&module);
	}
	window_add_module(id, &module);
	return id;
}

unsigned window_caller(const void *caller)
{
	uintptr_t addr = (uintptr_t)caller;
	/* acquire: pairs with the release in window_add_module(). */
	size_t count = load_acquire(&g.module_count);

	for (size_t i = 0; i < count; i++) {
		if (addr - modules[i].start <
			modules[i].end - modules[i].start) {
			return load_relaxed(&modules[i].id);
		}
	}
	return unknown_caller(caller);
}

/* As mmap(2), with the kernel's result. */
static long kernel_map(
	void *addr, size_t size, int prot, int flags, int fd, long offset)
{
	return sys6(SYS_mmap, addr, size, prot, flags, fd, offset);
}

static bool in_window(const struct window *w, uintptr_t addr, size_t size)
{
	return addr >= w->start && addr < w->end && size <= w->end - addr;
}

static uintptr_t take(struct window *w, size_t size, uintptr_t hint)
{
	size_t align = size >= WINDOW_ALIGN ? WINDOW_ALIGN : os_page_size();
	uintptr_t addr;

	lock_acquire(&g.lock);
	addr = extents_take(&w->free, size, align, hint);
	if (addr) {
		w->mapped += size;
	}
	lock_release(&g.lock);
	return addr;
}

/* Pages that are reserved again go back to the free list. */
static void give_back(struct window *w, uintptr_t addr, size_t size)
{
	lock_acquire(&g.lock);
	/* Out of memory for the list: the space is lost, nothing else. */
	extents_add(&w->free, addr, addr + size);
	w->mapped -= size;
	lock_release(&g.lock);
}

/* Outside the window: where the kernel likes, registered by its range. */
static long map_outside(
	unsigned id, void *addr, size_t size, int prot, int flags)
{
	long ret = kernel_map(addr, size, prot, flags, -1, 0);

	if (!sys_failed(ret) && owner_register((void *)ret, size, id)) {
		os_unmap((void *)ret, size);
		return -ENOMEM;
	}
	return ret;
}

long window_map(unsigned id, void *addr, size_t size, int prot, int flags,
	int fd, long offset)
{
	struct window *w = &windows[id];
	size_t page = os_page_size();

	if (!(flags & MAP_ANONYMOUS) || !(flags & MAP_PRIVATE) ||
		(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) || size == 0 ||
		size > MAX_OBJECT) {
		return kernel_map(addr, size, prot, flags, fd, offset);
	}
	size = round_up(size, page);

	uintptr_t hint = (uintptr_t)addr;
	uintptr_t at = take(w, size, hint % page ? 0 : hint);

	if (!at) {
		return map_outside(id, addr, size, prot, flags);
	}

	long ret = kernel_map((void *)at, size, prot, flags | MAP_FIXED, -1, 0);

	if (sys_failed(ret)) {
		give_back(w, at, size);
	}
	return ret;
}

long window_unmap(unsigned id, void *addr, size_t size)
{
	struct window *w = &windows[id];
	size_t page = os_page_size();
	long ret;

	if ((uintptr_t)addr % page || size == 0 || size > MAX_OBJECT) {
		return os_unmap(addr, size);
	}
	size = round_up(size, page);
	if (in_window(w, (uintptr_t)addr, size)) {
		ret = os_decommit(addr, size);
		if (ret == 0) {
			give_back(w, (uintptr_t)addr, size);
		}
		return ret;
	}
	ret = os_unmap(addr, size);
	if (ret == 0) {
		owner_unregister(addr, size);
	}
	return ret;
}

/* Always to a new place: see design, a grown-in-place block met a neighbour. */
long window_remap(
	unsigned id, void *addr, size_t size, size_t new_size, int flags)
{
	size_t page = os_page_size();

	if (new_size == 0 || new_size > MAX_OBJECT || size == 0 ||
		size > MAX_OBJECT || (uintptr_t)addr % page) {
		return -EINVAL;
	}
	size = round_up(size, page);
	new_size = round_up(new_size, page);
	if (new_size < size) {
		long ret = window_unmap(
			id, (char *)addr + new_size, size - new_size);

		return ret ? ret : (long)addr;
	}
	if (new_size == size) {
		return (long)addr;
	}
	if (!(flags & MREMAP_MAYMOVE)) {
		return -ENOMEM;
	}

	long to = window_map(id, NULL, new_size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (sys_failed(to)) {
		return to;
	}
	if (os_move(addr, size, (void *)to)) {
		memcpy((void *)to, addr, size);
	}
	window_unmap(id, addr, size); /* failing, it stays: the data moved */
	return to;
}

size_t window_mapped_bytes(unsigned id)
{
	size_t mapped;

	lock_acquire(&g.lock);
	mapped = windows[id].mapped;
	lock_release(&g.lock);
	return mapped;
}

void window_prefork(void)
{
	lock_prefork(&g.lock);
}

void window_postfork(void)
{
	lock_postfork(&g.lock);
}
