/* SPDX-License-Identifier: MIT */
/*
 * modules.c - a table of the objects seen on stacks.
 *
 * Found by _dl_find_object(3), which is lock-free; an object whose code is on
 * a stack is not being unloaded. Segments and build-id are read from the ELF
 * headers as they lie in memory (ELF gABI chapter 5; the note is
 * NT_GNU_BUILD_ID of elf.h). When the epoch has advanced (an object was
 * unloaded, rules.h), every entry is compared with what lies at its address
 * now.
 *
 * Locks: the trace lock is held by the caller.
 */
#include "modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>

#include <allocmux/trace.h>

#include "base/os.h"
#include "base/syscall.h"
#include "rules.h"
#include "sink.h"

#pragma weak _dl_find_object

#define MOST_MODULES  4096u
#define MOST_SEGMENTS 16u
#define MOST_PATH     4096u

struct module {
	uint64_t start, end;
	uint64_t bias;
	const struct link_map *map;
	const char *name;
	const Elf64_Phdr *headers;
	uint32_t header_count;
	uint32_t id; /* 0: gone */
};

/* sync: trace lock */
static struct {
	struct module *modules; /* MOST_MODULES of them, mapped when needed */
	uint32_t count;         /* entries in use */
	uint32_t ids;
	uint32_t epoch; /* in which all entries were true */
	uint32_t last;  /* the entry found last */
	char path[MOST_PATH];
} g;

static bool fill(uint64_t pc, struct module *m)
{
	struct dl_find_object found;
	const Elf64_Ehdr *elf;

	if (!_dl_find_object ||
		_dl_find_object((void *)(uintptr_t)pc, &found) != 0) {
		return false;
	}
	elf = found.dlfo_map_start;
	*m = (struct module){
		.start = (uint64_t)(uintptr_t)found.dlfo_map_start,
		.end = (uint64_t)(uintptr_t)found.dlfo_map_end,
		.bias = found.dlfo_link_map->l_addr,
		.map = found.dlfo_link_map,
		.name = found.dlfo_link_map->l_name,
	};
	if (memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0 &&
		elf->e_phoff < m->end - m->start &&
		elf->e_phentsize == sizeof(Elf64_Phdr)) {
		m->headers = (const Elf64_Phdr *)(m->start + elf->e_phoff);
		m->header_count = elf->e_phnum;
	}
	return true;
}

/* ---- the record ---- */

static uint32_t collect_segments(
	const struct module *m, struct amux_trace_segment *out)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < m->header_count && count < MOST_SEGMENTS;
		i++) {
		const Elf64_Phdr *h = &m->headers[i];

		if (h->p_type == PT_LOAD) {
			out[count++] = (struct amux_trace_segment){
				.start = m->bias + h->p_vaddr,
				.end = m->bias + h->p_vaddr + h->p_memsz,
				.offset = h->p_offset,
				.flags = h->p_flags,
			};
		}
	}
	return count;
}

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static const void *find_build_id(const struct module *m, uint32_t *length)
{
	for (uint32_t i = 0; i < m->header_count; i++) {
		const Elf64_Phdr *h = &m->headers[i];
		uint64_t at = m->bias + h->p_vaddr;
		uint64_t end = at + h->p_memsz;

		if (h->p_type != PT_NOTE || at < m->start || end > m->end) {
			continue;
		}
		while (at + sizeof(Elf64_Nhdr) <= end) {
			const Elf64_Nhdr *note = (const void *)(uintptr_t)at;
			const char *name = (const char *)(note + 1);
			uint64_t size = sizeof(*note) + align4(note->n_namesz) +
					align4(note->n_descsz);

			if (size > end - at) {
				break;
			}
			if (note->n_type == NT_GNU_BUILD_ID &&
				note->n_namesz == 4 &&
				memcmp(name, "GNU", 4) == 0) {
				*length = note->n_descsz;
				return name + 4;
			}
			at += size;
		}
	}
	*length = 0;
	return NULL;
}

/* The program's own name is empty in the loader's list. */
static size_t find_path(const struct module *m)
{
	size_t length = m->name ? strlen(m->name) : 0;
	long ret;

	if (length == 0) {
		ret = sys4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", g.path,
			sizeof(g.path));
		return sys_failed(ret) ? 0 : (size_t)ret;
	}
	if (m->name[0] == '/' || !strchr(m->name, '/')) {
		length = length < sizeof(g.path) ? length : sizeof(g.path);
		memcpy(g.path, m->name, length);
		return length;
	}
	/* Relative: to where we are, which is right if nobody has moved. */
	ret = sys2(SYS_getcwd, g.path, sizeof(g.path));
	if (sys_failed(ret) || (size_t)ret + length > sizeof(g.path)) {
		return 0;
	}
	g.path[ret - 1] = '/';
	memcpy(g.path + ret, m->name, length);
	return (size_t)ret + length;
}

static void record_load(const struct module *m)
{
	struct amux_trace_segment segments[MOST_SEGMENTS];
	struct amux_trace_info_load record = {
		.info = {.type = AMUX_TRACE_INFO_LOAD},
		.module = m->id,
		.epoch = g.epoch,
		.bias = m->bias,
		.start = m->start,
		.end = m->end,
	};
	const void *build_id = find_build_id(m, &record.build_id_length);

	record.segments = collect_segments(m, segments);
	record.path_length = (uint32_t)find_path(m);

	struct sink_piece pieces[] = {
		{&record, sizeof(record)},
		{segments, record.segments * sizeof(segments[0])},
		{build_id, record.build_id_length},
		{g.path, record.path_length},
	};

	sink_info_locked(pieces, 4);
}

static void record_unload(const struct module *m)
{
	struct amux_trace_info_unload record = {
		.info = {.type = AMUX_TRACE_INFO_UNLOAD},
		.module = m->id,
		.epoch = g.epoch,
	};
	struct sink_piece piece = {&record, sizeof(record)};

	sink_info_locked(&piece, 1);
}

/* ---- the table ---- */

static void check_all(void)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < g.count; i++) {
		struct module *m = &g.modules[i];
		struct module now;

		if (fill(m->start, &now) && now.map == m->map &&
			now.bias == m->bias && now.end == m->end &&
			now.name == m->name && now.headers == m->headers) {
			g.modules[kept++] = *m;
		} else {
			record_unload(m);
		}
	}
	g.count = kept;
	g.last = 0;
}

static bool is_known(uint64_t pc)
{
	if (g.last < g.count && pc >= g.modules[g.last].start &&
		pc < g.modules[g.last].end) {
		return true;
	}
	for (uint32_t i = 0; i < g.count; i++) {
		if (pc >= g.modules[i].start && pc < g.modules[i].end) {
			g.last = i;
			return true;
		}
	}
	return false;
}

static bool make_table(void)
{
	void *addr;

	if (!g.modules) {
		if (os_map(MOST_MODULES * sizeof(*g.modules), &addr) != 0) {
			return false;
		}
		g.modules = addr;
	}
	return true;
}

bool modules_learn(uint64_t pc)
{
	struct module m;

	if (is_known(pc) || g.count == MOST_MODULES || !make_table() ||
		!fill(pc, &m)) {
		return false;
	}
	m.id = ++g.ids;
	g.last = g.count;
	g.modules[g.count++] = m;
	record_load(&m);
	return true;
}

uint32_t modules_note(const uint64_t *frames, size_t count)
{
	uint32_t now = rules_epoch();

	if (g.epoch != now) {
		g.epoch = now;
		check_all();
	}
	for (size_t i = 0; i < count; i++) {
		modules_learn(frames[i]);
	}
	/* Code on a living stack stays: its addresses mean the same now. */
	return now;
}

uint32_t modules_count(void)
{
	return g.ids;
}

void modules_reset(void)
{
	g.count = 0;
	g.ids = 0;
	g.last = 0;
}

int modules_iterate(
	int (*visit)(struct dl_phdr_info *info, size_t size, void *arg),
	void *arg)
{
	int ret = 0;

	for (uint32_t i = 0; i < g.count && ret == 0; i++) {
		const struct module *m = &g.modules[i];
		struct dl_phdr_info info = {
			.dlpi_addr = m->bias,
			.dlpi_name = m->name,
			.dlpi_phdr = m->headers,
			.dlpi_phnum = (Elf64_Half)m->header_count,
			.dlpi_adds = g.ids,
			.dlpi_subs = g.epoch,
		};

		ret = visit(&info, sizeof(info), arg);
	}
	return ret;
}
