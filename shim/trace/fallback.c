/* SPDX-License-Identifier: MIT */
/*
 * fallback.c - unw_backtrace(3), without the loader's lock.
 *
 * libunwind asks dl_iterate_phdr(3) for the objects, which takes a lock of the
 * dynamic linker: a deadlock if another thread holds it and waits for us, and
 * a lost lock in the child of a fork. So its reference to dl_iterate_phdr is
 * bound to a function of ours, which walks our own table while we unwind, and
 * calls the real one for everybody else (a program may use the same library).
 * An object that is missing in our table shows as a stack that ends in it; it
 * is added and the walk repeated.
 *
 * Locks: the trace lock around every use, so that a fork never finds us inside
 * libunwind, which has locks of its own.
 */
#include "fallback.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "base/atomic.h"
#include "base/bits.h"
#include "base/os.h"
#include "base/syscall.h"
#include "capture.h"
#include "loader.h"
#include "modules.h"
#include "sink.h"

#pragma weak _dl_find_object

#define MOST_TRIES  8
#define MOST_FRAMES (CAPTURE_FRAMES + 16u)

typedef int visit_fn(struct dl_phdr_info *info, size_t size, void *arg);

static struct {
	/* sync: release, when all is ready */
	int (*_Atomic backtrace)(void **buffer, int size);
	int user;                  /* sync: atomic; tid inside, or 0 */
	void *buffer[MOST_FRAMES]; /* sync: trace lock */
} g;

static int iterate(visit_fn *visit, void *arg)
{
	if (__atomic_load_n(&g.user, __ATOMIC_RELAXED) == os_gettid()) {
		return modules_iterate(visit, arg);
	}
	return dl_iterate_phdr(visit, arg);
}

/* ---- binding ---- */

struct dynamic {
	const Elf64_Sym *symbols;
	const char *strings;
	const Elf64_Rela *rela[2];
	size_t count[2];
};

static void read_dynamic(const struct link_map *map, struct dynamic *d)
{
	memset(d, 0, sizeof(*d));
	for (const Elf64_Dyn *dyn = map->l_ld; dyn->d_tag != DT_NULL; dyn++) {
		/* glibc has added the load address to these. */
		const void *ptr = (const void *)(uintptr_t)dyn->d_un.d_ptr;

		switch (dyn->d_tag) {
		case DT_SYMTAB:
			d->symbols = ptr;
			break;
		case DT_STRTAB:
			d->strings = ptr;
			break;
		case DT_RELA:
			d->rela[0] = ptr;
			break;
		case DT_RELASZ:
			d->count[0] = dyn->d_un.d_val / sizeof(Elf64_Rela);
			break;
		case DT_JMPREL:
			d->rela[1] = ptr;
			break;
		case DT_PLTRELSZ:
			d->count[1] = dyn->d_un.d_val / sizeof(Elf64_Rela);
			break;
		}
	}
}

/* The part of the object that was made read-only after relocation. */
static void find_relro(
	const struct link_map *map, uint64_t *start, uint64_t *end)
{
	struct dl_find_object found;
	const Elf64_Ehdr *elf;
	const Elf64_Phdr *headers;

	*start = *end = 0;
	if (_dl_find_object(map->l_ld, &found) != 0) {
		return;
	}
	elf = found.dlfo_map_start;
	headers = (const void *)((const char *)elf + elf->e_phoff);
	for (unsigned i = 0; i < elf->e_phnum; i++) {
		if (headers[i].p_type == PT_GNU_RELRO) {
			*start = map->l_addr + headers[i].p_vaddr;
			*end = *start + headers[i].p_memsz;
		}
	}
}

static bool write_slot(const struct link_map *map, uint64_t at, uint64_t value)
{
	size_t page = os_page_size();
	void *start = (void *)(uintptr_t)round_down(at, page);
	uint64_t relro, relro_end;
	bool closed;

	find_relro(map, &relro, &relro_end);
	closed = at >= relro && at < relro_end;
	if (closed && os_commit(start, page) != 0) {
		return false;
	}
	*(volatile uint64_t *)(uintptr_t)at = value;
	if (closed) {
		sys3(SYS_mprotect, start, page, PROT_READ);
	}
	return true;
}

/* Bind the object's references to `name` to `target`; how many there were. */
static int bind_symbol(
	const struct link_map *map, const char *name, uint64_t target)
{
	struct dynamic d;
	int bound = 0;

	read_dynamic(map, &d);
	for (int i = 0; i < 2 && d.symbols && d.strings; i++) {
		for (size_t k = 0; d.rela[i] && k < d.count[i]; k++) {
			const Elf64_Rela *rela = &d.rela[i][k];
			size_t symbol = ELF64_R_SYM(rela->r_info);

			if (symbol &&
				!strcmp(d.strings + d.symbols[symbol].st_name,
					name) &&
				write_slot(map, map->l_addr + rela->r_offset,
					target)) {
				bound++;
			}
		}
	}
	return bound;
}

bool fallback_start(void)
{
	void *handle = loader_open("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	int (*backtrace)(void **, int);
	struct link_map *map;

	if (!handle) {
		return false;
	}
	/* glibc: a handle is the link map (dlinfo(3), RTLD_DI_LINKMAP). */
	map = handle;
	backtrace =
		(int (*)(void **, int))loader_symbol(handle, "unw_backtrace");
	if (!backtrace || bind_symbol(map, "dl_iterate_phdr",
				  (uint64_t)(uintptr_t)iterate) == 0) {
		return false;
	}
	/* release: pairs with the acquire in fallback_unwind(). */
	store_release(&g.backtrace, backtrace);
	return true;
}

/* ---- use ---- */

static size_t unwind_locked(uint64_t *frames, size_t count, size_t most,
	int (*backtrace)(void **, int))
{
	uint64_t pc = frames[0];

	modules_note(frames, count);
	for (int try = 0; try < MOST_TRIES; try++) {
		int total = backtrace(g.buffer, MOST_FRAMES);
		int first = 0;

		while (first < total &&
			(uint64_t)(uintptr_t)g.buffer[first] != pc) {
			first++;
		}
		if (total - first <= (int)count) {
			break;
		}
		count = (size_t)(total - first);
		count = count < most ? count : most;
		for (size_t i = 0; i < count; i++) {
			frames[i] =
				(uint64_t)(uintptr_t)g.buffer[first + (int)i];
		}
		if (!modules_learn(frames[count - 1])) {
			break;
		}
	}
	return count;
}

size_t fallback_unwind(uint64_t *frames, size_t count, size_t most)
{
	/* acquire: pairs with the release in fallback_start(). */
	int (*backtrace)(void **, int) = load_acquire(&g.backtrace);

	if (!backtrace) {
		return count;
	}
	sink_lock();
	__atomic_store_n(&g.user, os_gettid(), __ATOMIC_RELAXED);
	count = unwind_locked(frames, count, most, backtrace);
	__atomic_store_n(&g.user, 0, __ATOMIC_RELAXED);
	sink_unlock();
	return count;
}
