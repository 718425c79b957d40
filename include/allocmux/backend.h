/* SPDX-License-Identifier: MIT */
/*
 * allocmux/backend.h - the contract between Allocmux and an allocator.
 *
 * A backend is one constant table of functions. A built-in backend is compiled
 * in; a plugin is a shared object that exports its table as
 *
 *     const struct amux_backend allocmux_backend;
 *
 * and is found as ALLOC_BACKEND=NAME in $libdir/allocmux/NAME.so or in
 * ALLOC_PLUGIN_PATH. None of the table's functions is called before the table
 * has been read and accepted. See docs/backend-guide.md for a walk-through.
 *
 * ABI. The table only ever grows at its end. `abi` changes when, and only
 * when, a slot changes its meaning; `size` says how much of the table exists.
 * The host copies the smaller of the two sizes into zeroed memory, so older
 * and newer plugins load. Unknown capability bits are refused.
 *
 * Contract of the allocation slots:
 *   - size is 1 or more where the text does not say otherwise; NULL is never
 *     passed as the block; alignments are powers of two of 16 or more;
 *   - except in malloc and free, which are jumped to directly from the
 *     program's call (see there);
 *   - on failure return NULL with errno = ENOMEM; on success and in free
 *     leave errno alone;
 *   - every block is aligned to 16 bytes;
 *   - all slots may be called from any thread at any time after init() has
 *     returned 0, also during fork by the forking thread and by a thread whose
 *     destructors have run;
 *   - a slot must not call malloc's family itself.
 */
#ifndef ALLOCMUX_BACKEND_H
#define ALLOCMUX_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Meaning of the slots; see "ABI" above. */
#define AMUX_BACKEND_ABI 1u

/* True if table B (of any age) has a value in SLOT. */
#define AMUX_HAS(b, slot)                                                      \
	((b)->size >= offsetof(struct amux_backend, slot) +                    \
				sizeof((b)->slot) &&                           \
		(b)->slot != NULL)

/*
 * Capabilities.
 *
 * AMUX_CAP_ANY_POINTER: free, realloc and usable_size accept any pointer:
 * they recognise their own blocks and hand the rest to host->foreign_*. The
 * host then jumps straight to them. Without it the host looks up the owner
 * before each call.
 */
#define AMUX_CAP_ANY_POINTER ((uint64_t)1 << 0)
/* Set if calloc'ed or fresh memory is never touched until the program does. */
#define AMUX_CAP_LAZY_ZERO ((uint64_t)1 << 1)
/* All bits a host of this version knows. */
#define AMUX_CAP_ALL (AMUX_CAP_ANY_POINTER | AMUX_CAP_LAZY_ZERO)

/*
 * Figures of one backend, all in bytes or counts. A backend sets `size` to
 * sizeof(struct amux_stats) as it knows it, and what it cannot tell to 0.
 */
struct amux_stats {
	uint32_t size;       /* bytes of this struct that are filled */
	uint32_t reserved;   /* 0 */
	uint64_t live_bytes; /* usable bytes of blocks the program holds */
	uint64_t live_blocks;
	uint64_t cached_bytes;   /* free, kept for quick reuse (bins, caches) */
	uint64_t active_bytes;   /* pages with at least one live block */
	uint64_t mapped_bytes;   /* pages that may be resident */
	uint64_t reserved_bytes; /* address space, resident or not */
	uint64_t metadata_bytes; /* the allocator's own tables */
	uint64_t large_bytes;    /* part of live_bytes in blocks of their own */
	uint64_t large_blocks;
	uint64_t returned_bytes; /* given back to the kernel so far */
};

/* One live block, for amux_backend.walk. Return non-zero to stop the walk. */
typedef int amux_walk_fn(void *block, size_t usable, void *arg);

/*
 * What the host gives a backend. Valid for the life of the process. Every
 * function is thread-safe and never allocates through malloc's family.
 */
struct amux_host {
	uint32_t abi;  /* AMUX_BACKEND_ABI */
	uint32_t size; /* bytes of this struct that exist */
	void *self;    /* the host's; identifies this backend in calls below */

	/*
	 * Reserve `size` bytes of address space, aligned to `align` (both
	 * multiples of the page size, align a power of two), and register them
	 * as this backend's: from then on the host knows every pointer into
	 * them. The memory is inaccessible and uncharged until committed with
	 * mprotect(2). Returns NULL if the kernel refuses; try less. Takes a
	 * lock; not async-signal-safe.
	 */
	void *(*reserve)(
		const struct amux_host *host, size_t size, size_t align);

	/* Unregister and unmap what reserve() gave, whole. */
	void (*release)(const struct amux_host *host, void *addr, size_t size);

	/*
	 * The value of option NAME of this backend, or NULL if not set: for
	 * backend "dl", option "heaps" is ALLOC_DL_HEAPS. Call in init() only.
	 */
	const char *(*option)(const struct amux_host *host, const char *name);

	/* One line on stderr, prefixed. Async-signal-safe. */
	void (*log)(const struct amux_host *host, const char *line);

	/*
	 * Report a bad pointer: `call` is the function as the program knows it,
	 * `what` the reason ("double free"). By default this prints the line
	 * and aborts; with ALLOC_BAD_FREE=warn it counts, prints and returns,
	 * and the caller then leaves the block alone.
	 */
	void (*bad_pointer)(const struct amux_host *host, const char *call,
		const void *ptr, const char *what);

	/*
	 * For AMUX_CAP_ANY_POINTER: a pointer that is in none of the ranges
	 * this backend has reserved (it would come straight back). The host
	 * finds the owner and does what free(3), realloc(3) or
	 * malloc_usable_size(3) should. ptr is not NULL; size is not 0.
	 */
	void (*foreign_free)(void *ptr);
	void *(*foreign_realloc)(void *ptr, size_t size);
	size_t (*foreign_usable_size)(void *ptr);
};

struct amux_backend {
	uint32_t abi;        /* AMUX_BACKEND_ABI */
	uint32_t size;       /* sizeof(struct amux_backend) */
	const char *name;    /* as in ALLOC_BACKEND: letters, digits, '-' */
	const char *version; /* shown to users; may be NULL */
	const char *summary; /* one line for `allocmux list`; may be NULL */
	uint64_t caps;       /* AMUX_CAP_* */

	/*
	 * Called once, before any other slot, possibly before main and from
	 * inside the program's first malloc. Must not call anything that may
	 * allocate. Returns 0, or an errno value: then the backend is not used
	 * and none of its slots is called.
	 */
	int (*init)(const struct amux_host *host);

	/*
	 * As malloc(3): size 0 gives a unique block; above PTRDIFF_MAX fails
	 * with ENOMEM. Required.
	 */
	void *(*malloc)(size_t size);

	/* As free(3): NULL is a no-op; errno is kept. Required. */
	void (*free)(void *ptr);

	/* The product has been checked and may be 0. NULL: malloc + memset. */
	void *(*calloc)(size_t count, size_t size);

	/* On failure the old block is untouched. NULL: malloc, copy, free. */
	void *(*realloc)(void *ptr, size_t size);

	/*
	 * size may be 0. align is a power of two, 16 or more. NULL: the host
	 * refuses alignments above 16 with ENOMEM for this backend.
	 */
	void *(*memalign)(size_t align, size_t size);

	/* Bytes that may be used, all of them writable. Required. */
	size_t (*usable_size)(void *ptr);

	/* As C23 free_sized: size is what was asked for. NULL: free. */
	void (*free_sized)(void *ptr, size_t size);

	/* Give back what can be; keep about `pad` bytes. 1 if anything went. */
	int (*trim)(size_t pad);

	void (*stats)(struct amux_stats *stats);

	/* As mallopt(3): 1 if the parameter was taken, else 0. */
	int (*option)(int param, int value);

	/* Every live block, at rest (no other thread in the allocator). */
	int (*walk)(amux_walk_fn *visit, void *arg);

	/*
	 * Around fork(2): take all locks; free them in the parent; free them
	 * in the child, which has one thread. The forking thread may allocate
	 * between the two. All or none.
	 */
	void (*prefork)(void);
	void (*postfork_parent)(void);
	void (*postfork_child)(void);

	/*
	 * Heaps of one's own. `heap` is opaque; memory may be NULL (the heap
	 * grows as it needs) or `size` bytes of the caller, aligned to 16, that
	 * the heap never exceeds. All or none.
	 */
	void *(*heap_create)(void *memory, size_t size);
	void (*heap_destroy)(void *heap);
	void *(*heap_malloc)(void *heap, size_t size);
	void *(*heap_memalign)(void *heap, size_t align, size_t size);
	void *(*heap_realloc)(void *heap, void *ptr, size_t size);
	void (*heap_free)(void *heap, void *ptr);

	/*
	 * Verify the allocator's own structures, at rest. 0 if all invariants
	 * hold; otherwise what is broken has been logged.
	 */
	int (*check)(void);
};

#ifdef __cplusplus
}
#endif

#endif
