/* SPDX-License-Identifier: MIT */
/*
 * external.c - see external.h.
 *
 * Slots are plain functions, so a thunk must know its library by itself: the
 * thunks are made once per possible library by a macro.
 */
#include "external.h"

#include <errno.h>
#include <string.h>

#include "base/bits.h"
#include "base/compiler.h"
#include "base/elfsym.h"
#include "base/log.h"
#include "blocktable.h"
#include "dispatch.h"
#include "loader.h"
#include "owner.h"
#include "takeover.h"
#include "window.h"

enum { MAX_EXTERNAL = 8 };

/* The library's own functions; NULL where it has none. */
struct library {
	void *(*malloc)(size_t);
	void (*free)(void *);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_malloc)(size_t size, size_t align); /* TBB's order */
	size_t (*usable_size)(void *);

	/* Whichever way it has of giving memory back. */
	int (*malloc_trim)(size_t);
	int (*mallctl)(const char *, void *, size_t *, void *, size_t);
	void (*release_free_memory)(void);
	void (*collect)(bool);
	int (*allocation_command)(int, void *);

	/* gperftools' figures. */
	int (*numeric_property)(const char *, size_t *);
	unsigned id;
};

static struct {
	struct library
		libraries[MAX_EXTERNAL]; /* sync: set in load, constant */
	unsigned count;                  /* sync: registry lock */
} g;

/* Small blocks are asked for as 16 bytes: only these get 8-byte alignment. */
static inline size_t at_least_16(size_t size)
{
	return size < MALLOC_ALIGN ? MALLOC_ALIGN : size;
}

static void *try_memalign(const struct library *lib, size_t align, size_t size)
{
	void *ptr = NULL;

	if (lib->memalign) {
		return lib->memalign(align, size);
	}
	if (lib->aligned_malloc) {
		return lib->aligned_malloc(size, align);
	}
	if (lib->posix_memalign) {
		int err = lib->posix_memalign(&ptr, align, size);

		if (err) {
			errno = ENOMEM;
			return NULL;
		}
		return ptr;
	}
	/* Some refuse a size that is no multiple of the alignment. */
	return lib->aligned_alloc(align, round_up(size, align));
}

/*
 * mimalloc 2.0 misaligns some sizes that are multiples of the alignment: look,
 * and ask again for a little more.
 */
static void *library_memalign(
	const struct library *lib, size_t align, size_t size)
{
	void *ptr = try_memalign(lib, align, size);

	for (int i = 0; ptr && (uintptr_t)ptr % align && i < 3; i++) {
		lib->free(ptr);
		size += MALLOC_ALIGN;
		ptr = try_memalign(lib, align, size);
	}
	if (!ptr || (uintptr_t)ptr % align) {
		lib->free(ptr);
		errno = ENOMEM;
		return NULL;
	}
	return ptr;
}

/* Some libraries fail without saying so. */
static inline void *or_enomem(void *ptr)
{
	if (unlikely(!ptr)) {
		errno = ENOMEM;
	}
	return ptr;
}

/*
 * The tracked forms, for a library whose mappings we do not see: every block
 * has an entry in the block table while it lives.
 */

static void *tracked(const struct library *lib, void *ptr)
{
	if (ptr && !blocktable_insert(ptr, lib->id)) {
		lib->free(ptr);
		ptr = NULL;
	}
	return or_enomem(ptr);
}

static void tracked_free(const struct library *lib, void *ptr)
{
	if (ptr) {
		/* Before its free: after it, the address may be new again. */
		blocktable_remove(ptr);
		lib->free(ptr);
	}
}

static void *tracked_realloc(const struct library *lib, void *ptr, size_t size)
{
	void *moved;

	blocktable_remove(ptr);
	moved = lib->realloc(ptr, at_least_16(size));
	if (!moved) {
		/* Room was made by the removal. */
		blocktable_insert(ptr, lib->id);
		return or_enomem(NULL);
	}
	return tracked(lib, moved);
}

static int library_trim(const struct library *lib, size_t pad)
{
	enum { CLEAN_ALL_BUFFERS = 0 }; /* TBBMALLOC_CLEAN_ALL_BUFFERS */

	if (lib->mallctl) {
		/* MALLCTL_ARENAS_ALL is 4096 (jemalloc(3)). */
		return lib->mallctl("arena.4096.purge", NULL, NULL, NULL, 0) ==
		       0;
	}
	if (lib->release_free_memory) {
		lib->release_free_memory();
		return 1;
	}
	if (lib->collect) {
		lib->collect(true);
		return 1;
	}
	if (lib->allocation_command) {
		return lib->allocation_command(CLEAN_ALL_BUFFERS, NULL) == 0;
	}
	return lib->malloc_trim ? lib->malloc_trim(pad) : 0;
}

static uint64_t read_mallctl(const struct library *lib, const char *name)
{
	size_t value = 0, size = sizeof(value);

	return lib->mallctl(name, &value, &size, NULL, 0) == 0 ? value : 0;
}

static uint64_t read_property(const struct library *lib, const char *name)
{
	size_t value = 0;

	return lib->numeric_property(name, &value) ? value : 0;
}

static void library_stats(const struct library *lib, struct amux_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats->size = sizeof(*stats);
	stats->mapped_bytes = window_mapped_bytes(lib->id);
	stats->reserved_bytes = stats->mapped_bytes;
	if (lib->mallctl) {
		uint64_t epoch = 1;
		size_t size = sizeof(epoch);

		lib->mallctl("epoch", &epoch, &size, &epoch, size);
		stats->live_bytes = read_mallctl(lib, "stats.allocated");
		stats->active_bytes = read_mallctl(lib, "stats.active");
		stats->metadata_bytes = read_mallctl(lib, "stats.metadata");
	} else if (lib->numeric_property) {
		stats->live_bytes =
			read_property(lib, "generic.current_allocated_bytes");
		stats->cached_bytes = read_property(
			lib, "tcmalloc.current_total_thread_cache_bytes");
	}
}

#define THUNKS(n)                                                              \
	static void *malloc_##n(size_t size)                                   \
	{                                                                      \
		return or_enomem(g.libraries[n].malloc(at_least_16(size)));    \
	}                                                                      \
	static void *calloc_##n(size_t count, size_t size)                     \
	{                                                                      \
		return or_enomem(                                              \
			g.libraries[n].calloc(1, at_least_16(count * size)));  \
	}                                                                      \
	static void *realloc_##n(void *ptr, size_t size)                       \
	{                                                                      \
		return or_enomem(                                              \
			g.libraries[n].realloc(ptr, at_least_16(size)));       \
	}                                                                      \
	static void *memalign_##n(size_t align, size_t size)                   \
	{                                                                      \
		return library_memalign(                                       \
			&g.libraries[n], align, at_least_16(size));            \
	}                                                                      \
	static void free_##n(void *ptr)                                        \
	{                                                                      \
		int saved = errno;                                             \
                                                                               \
		g.libraries[n].free(ptr);                                      \
		errno = saved;                                                 \
	}                                                                      \
	static int trim_##n(size_t pad)                                        \
	{                                                                      \
		return library_trim(&g.libraries[n], pad);                     \
	}                                                                      \
	static void stats_##n(struct amux_stats *stats)                        \
	{                                                                      \
		library_stats(&g.libraries[n], stats);                         \
	}                                                                      \
	static void *tracked_malloc_##n(size_t size)                           \
	{                                                                      \
		return tracked(&g.libraries[n], malloc_##n(size));             \
	}                                                                      \
	static void tracked_free_##n(void *ptr)                                \
	{                                                                      \
		tracked_free(&g.libraries[n], ptr);                            \
	}                                                                      \
	static void *tracked_calloc_##n(size_t count, size_t size)             \
	{                                                                      \
		return tracked(&g.libraries[n], calloc_##n(count, size));      \
	}                                                                      \
	static void *tracked_realloc_##n(void *ptr, size_t size)               \
	{                                                                      \
		return tracked_realloc(&g.libraries[n], ptr, size);            \
	}                                                                      \
	static void *tracked_memalign_##n(size_t align, size_t size)           \
	{                                                                      \
		return tracked(&g.libraries[n], memalign_##n(align, size));    \
	}

THUNKS(0)
THUNKS(1)
THUNKS(2)
THUNKS(3)
THUNKS(4)
THUNKS(5)
THUNKS(6)
THUNKS(7)

#define THUNK_ROW(n)                                                           \
	{                                                                      \
		.malloc = malloc_##n, .free = free_##n, .calloc = calloc_##n,  \
		.realloc = realloc_##n, .memalign = memalign_##n,              \
		.trim = trim_##n, .stats = stats_##n                           \
	}

#define TRACKED_ROW(n)                                                         \
	{                                                                      \
		.malloc = tracked_malloc_##n, .free = tracked_free_##n,        \
		.calloc = tracked_calloc_##n, .realloc = tracked_realloc_##n,  \
		.memalign = tracked_memalign_##n                               \
	}

#define ROWS(row)                                                              \
	{                                                                      \
		row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7) \
	}

static const struct amux_backend thunks[MAX_EXTERNAL] = ROWS(THUNK_ROW);
static const struct amux_backend tracked_thunks[MAX_EXTERNAL] =
	ROWS(TRACKED_ROW);

/*
 * prefix+name out of the library, not out of libc or the shim, which its scope
 * also contains.
 */
static void *function(void *handle, const char *prefix, const char *name)
{
	struct elf_object home, self, libc;
	char symbol[64];
	void *addr;

	log_format(symbol, sizeof(symbol), "%s%s", prefix, name);
	addr = loader_symbol(handle, symbol);
	if (!addr || !elf_find_by_address(addr, &home) ||
		(elf_find_libc(&libc) && home.base == libc.base) ||
		(elf_find_by_address((const void *)function, &self) &&
			home.base == self.base)) {
		return NULL;
	}
	return addr;
}

static void find_functions(
	struct library *lib, void *handle, const char *prefix)
{
	bool tbb = !strcmp(prefix, "scalable_");

	lib->malloc = function(handle, prefix, "malloc");
	lib->free = function(handle, prefix, "free");
	lib->calloc = function(handle, prefix, "calloc");
	lib->realloc = function(handle, prefix, "realloc");
	lib->memalign = function(handle, prefix, "memalign");
	lib->aligned_alloc = function(handle, prefix, "aligned_alloc");
	lib->posix_memalign = function(handle, prefix, "posix_memalign");
	lib->usable_size = tbb ? function(handle, prefix, "msize")
			       : function(handle, prefix, "malloc_usable_size");
	lib->aligned_malloc =
		tbb ? function(handle, prefix, "aligned_malloc") : NULL;
	lib->malloc_trim = function(handle, prefix, "malloc_trim");
	lib->mallctl = function(handle, "", "mallctl");
	lib->release_free_memory =
		function(handle, "", "MallocExtension_ReleaseFreeMemory");
	lib->numeric_property =
		function(handle, "", "MallocExtension_GetNumericProperty");
	lib->collect = function(handle, "", "mi_collect");
	lib->allocation_command =
		function(handle, "", "scalable_allocation_command");
}

/* Does it keep 16-byte alignment for the smallest blocks? */
static bool aligns_small_blocks(const struct library *lib)
{
	enum { SAMPLES = 8 };
	void *blocks[SAMPLES];
	uintptr_t bits = 0;

	for (int i = 0; i < SAMPLES; i++) {
		blocks[i] = lib->malloc(8);
		bits |= (uintptr_t)blocks[i];
	}
	for (int i = 0; i < SAMPLES; i++) {
		lib->free(blocks[i]);
	}
	return bits % MALLOC_ALIGN == 0;
}

/* Are its blocks where the owner map says? Else its frees would go astray. */
static bool blocks_lie_in_window(const struct library *lib)
{
	static const size_t sizes[] = {1, 100, 5000, 70000, 3000000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		void *ptr = lib->malloc(sizes[i]);
		bool inside = ptr && owner_of(ptr) == lib->id;

		lib->free(ptr);
		if (!inside) {
			return false;
		}
	}
	return true;
}

/* Its memory is where we do not look: remember every block instead. */
static void track_blocks(const struct library *lib, struct amux_backend *table)
{
	const struct amux_backend *thunk = &tracked_thunks[g.count];

	table->malloc = thunk->malloc;
	table->free = thunk->free;
	table->calloc = lib->calloc ? thunk->calloc : NULL;
	table->realloc = lib->realloc ? thunk->realloc : NULL;
	table->memalign = table->memalign ? thunk->memalign : NULL;
	dispatch_track_blocks();
}

int external_load(void *handle, const struct known_library *library,
	unsigned id, struct amux_backend *table, char *why, size_t why_size)
{
	const char *prefix = library ? library->prefix : "";
	struct library *lib = &g.libraries[g.count];
	const struct amux_backend *thunk = &thunks[g.count];
	struct elf_object home;

	if (g.count == MAX_EXTERNAL) {
		log_format(why, why_size, "%d libraries are loaded already",
			MAX_EXTERNAL);
		return EAGAIN;
	}
	lib->id = id;
	find_functions(lib, handle, prefix);
	if (!lib->malloc || !lib->free) {
		log_format(why, why_size,
			"it has no %smalloc and %sfree of its own", prefix,
			prefix);
		return ENOENT;
	}
	if (!lib->usable_size) {
		log_format(why, why_size,
			"it has no malloc_usable_size, without which its "
			"blocks cannot move");
		return ENOENT;
	}
	if (elf_find_by_address((const void *)lib->malloc, &home)) {
		window_add_module(id, &home);
		if (takeover_bind_library) {
			takeover_bind_library(&home);
		}
	}

	bool aligned = aligns_small_blocks(lib);
	bool any_memalign = lib->memalign || lib->aligned_malloc ||
			    lib->posix_memalign || lib->aligned_alloc;

	*table = (struct amux_backend){
		.abi = AMUX_BACKEND_ABI,
		.size = sizeof(*table),
		.name = library ? library->name : NULL,
		.summary = library ? library->summary : "a malloc library",
		.malloc = aligned ? lib->malloc : thunk->malloc,
		/* mimalloc's free may leave errno of a refused munmap. */
		.free = lib->collect ? thunk->free : lib->free,
		.calloc = aligned || !lib->calloc ? lib->calloc : thunk->calloc,
		.realloc = aligned || !lib->realloc ? lib->realloc
						    : thunk->realloc,
		.memalign = any_memalign ? thunk->memalign : NULL,
		.usable_size = lib->usable_size,
		.trim = thunk->trim,
		.stats = thunk->stats,
	};
	if (!blocks_lie_in_window(lib)) {
		track_blocks(lib, table);
	}
	g.count++;
	return 0;
}
