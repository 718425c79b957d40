/* SPDX-License-Identifier: MIT */
/*
 * dispatch.c - the tables of operations, and the way of a foreign block home.
 *
 * Not here: argument rules (interpose.c), loading (registry.c), the order of
 * start-up (lifecycle.c).
 */
#include "dispatch.h"

#include <errno.h>
#include <string.h>

#include "badptr.h"
#include "base/bits.h"
#include "base/check.h"
#include "base/lock.h"
#include "blocktable.h"
#include "owner.h"

/* What free, realloc and malloc_usable_size need of each owner. */
static struct {
	void (*free[OWNER_LIMIT])(void *);
	void *(*realloc[OWNER_LIMIT])(void *, size_t);
	size_t (*usable_size[OWNER_LIMIT])(void *);
	const struct amux_backend *backends[OWNER_LIMIT];
	const struct dispatch_ops *wrapper; /* sync: lock */
	unsigned active;                    /* sync: lock */
	bool shared;        /* sync: lock; others than libc may own blocks */
	bool started;       /* sync: lock; a table has been activated */
	bool tracked;       /* sync: lock; the block table is in use */
	bool distrust_libc; /* sync: set at start */
} g; /* sync: slots are written once, before the owner's first block */

static struct lock lock = LOCK_INIT(LOCK_RANK_DISPATCH);

unsigned dispatch_owner(const void *ptr)
{
	unsigned id = owner_of(ptr);

	return unlikely(id == OWNER_LIBC && g.tracked) ? blocktable_find(ptr)
						       : id;
}

/* By owner: the price over the owner's own free is owner_of() and one load. */
static void owned_free(void *ptr)
{
	g.free[owner_of(ptr)](ptr);
}

static void owned_free_sized(void *ptr, size_t size)
{
	g.free[owner_of(ptr)](ptr);
}

static size_t owned_usable_size(void *ptr)
{
	return g.usable_size[owner_of(ptr)](ptr);
}

/*
 * The block of another owner stays where it is if it fits there and would not
 * waste half of its place; otherwise it moves to the active backend.
 */
static void *realloc_across(unsigned id, void *ptr, size_t size)
{
	size_t old = g.usable_size[id](ptr);
	void *moved;

	if (!old) {
		return g.realloc[id](ptr, size); /* its owner cannot tell */
	}
	if (size <= old && size >= old / 2) {
		return ptr;
	}
	moved = dispatch_plain.malloc(size);
	if (!moved) {
		return NULL;
	}
	memcpy(moved, ptr, old < size ? old : size);
	g.free[id](ptr);
	return moved;
}

static void *owned_realloc(void *ptr, size_t size)
{
	unsigned id = dispatch_owner(ptr);

	if (likely(id == g.active)) {
		return g.realloc[id](ptr, size);
	}
	return realloc_across(id, ptr, size);
}

/*
 * libc is asked only about what can be libc's; see badptr.h. While libc is the
 * active backend it judges by itself.
 */
static void checked_libc_free(void *ptr)
{
	unsigned id = dispatch_owner(ptr);

	if (id != OWNER_LIBC) {
		g.free[id](ptr);
		return;
	}
	if (ptr && !badptr_may_be_libc("free", ptr)) {
		return;
	}
	g.backends[OWNER_LIBC]->free(ptr);
}

static size_t checked_libc_usable_size(void *ptr)
{
	unsigned id = dispatch_owner(ptr);

	if (id != OWNER_LIBC) {
		return g.usable_size[id](ptr);
	}
	if (!badptr_may_be_libc("malloc_usable_size", ptr)) {
		return 0;
	}
	return g.backends[OWNER_LIBC]->usable_size(ptr);
}

void dispatch_foreign_free(void *ptr)
{
	owned_free(ptr);
}

void *dispatch_foreign_realloc(void *ptr, size_t size)
{
	return realloc_across(dispatch_owner(ptr), ptr, size);
}

size_t dispatch_foreign_usable_size(void *ptr)
{
	return owned_usable_size(ptr);
}

/* An allocator that cannot say how large its blocks are (adopted ones). */
static size_t unknown_usable_size(void *ptr)
{
	return 0;
}

/* The optional slots, filled from the required ones. */

static void *filled_calloc(size_t count, size_t size)
{
	void *ptr = g.backends[g.active]->malloc(count * size);

	return ptr ? memset(ptr, 0, count * size) : NULL;
}

static void *filled_realloc(void *ptr, size_t size)
{
	return realloc_across(dispatch_owner(ptr), ptr, size);
}

static void *filled_memalign(size_t align, size_t size)
{
	if (align <= MALLOC_ALIGN) {
		return g.backends[g.active]->malloc(size);
	}
	errno = ENOMEM;
	return NULL;
}

static void plain_free_sized(void *ptr, size_t size)
{
	dispatch_plain.free(ptr);
}

static struct dispatch_ops plain_table(unsigned id)
{
	const struct amux_backend *b = g.backends[id];
	bool any_pointer = (b->caps & AMUX_CAP_ANY_POINTER) ||
			   (id == OWNER_LIBC && !g.shared && !g.distrust_libc);
	struct dispatch_ops ops = {
		.malloc = b->malloc,
		.calloc = b->calloc ? b->calloc : filled_calloc,
		.memalign = b->memalign ? b->memalign : filled_memalign,
		.free = owned_free,
		.realloc = owned_realloc,
		.usable_size = owned_usable_size,
		.free_sized = owned_free_sized,
	};

	if (any_pointer) {
		ops.free = b->free;
		ops.realloc = b->realloc ? b->realloc : filled_realloc;
		ops.usable_size = b->usable_size;
		ops.free_sized =
			b->free_sized ? b->free_sized : plain_free_sized;
	}
	return ops;
}

/* Word by word: other threads read the slots meanwhile. */
static void publish(struct dispatch_ops *to, const struct dispatch_ops *from)
{
	enum { SLOTS = sizeof(*to) / sizeof(void *) };
	void *const *source = (void *const *)from;
	void **target = (void **)to;

	for (int i = 0; i < SLOTS; i++) {
		__atomic_store_n(&target[i], source[i], __ATOMIC_RELEASE);
	}
}

static void activate(unsigned id)
{
	const struct amux_backend *libc = g.backends[OWNER_LIBC];
	bool trusted = id == OWNER_LIBC && !g.distrust_libc;
	struct dispatch_ops ops = plain_table(id);

	g.free[OWNER_LIBC] = trusted ? libc->free : checked_libc_free;
	g.usable_size[OWNER_LIBC] =
		trusted ? libc->usable_size : checked_libc_usable_size;
	g.active = id;
	publish(&dispatch_plain, &ops);
	if (!g.wrapper) {
		publish(&dispatch, &ops);
	}
}

void dispatch_add_owner(unsigned id, const struct amux_backend *backend)
{
	AMUX_CHECK(id < OWNER_LIMIT);
	lock_acquire(&lock);
	g.free[id] = backend->free;
	g.realloc[id] = backend->realloc ? backend->realloc : filled_realloc;
	g.usable_size[id] = backend->usable_size ? backend->usable_size
						 : unknown_usable_size;
	g.backends[id] = backend;
	if (id != OWNER_LIBC && !g.shared) {
		g.shared = true;
		if (g.active == OWNER_LIBC && g.started) {
			activate(OWNER_LIBC); /* from now on by owner */
		}
	}
	lock_release(&lock);
}

void dispatch_activate(unsigned id)
{
	AMUX_CHECK(id < OWNER_LIMIT && g.backends[id]);
	lock_acquire(&lock);
	g.started = true;
	activate(id);
	lock_release(&lock);
}

void dispatch_distrust_libc(void)
{
	g.distrust_libc = true;
}

void dispatch_track_blocks(void)
{
	lock_acquire(&lock);
	g.tracked = true;
	g.distrust_libc = true;
	g.shared = true;
	if (g.started) {
		activate(g.active);
	}
	lock_release(&lock);
}

void dispatch_wrap(const struct dispatch_ops *wrapper)
{
	lock_acquire(&lock);
	g.wrapper = wrapper;
	publish(&dispatch, wrapper ? wrapper : &dispatch_plain);
	lock_release(&lock);
}

void dispatch_prefork(void)
{
	lock_prefork(&lock);
}

void dispatch_postfork(void)
{
	lock_postfork(&lock);
}

unsigned dispatch_active(void)
{
	return g.active;
}

const struct amux_backend *dispatch_backend(unsigned id)
{
	return id < OWNER_LIMIT ? g.backends[id] : NULL;
}

/* State "start": whoever comes first starts the library, then tries again. */

static void *start_malloc(size_t size)
{
	lifecycle_start();
	return dispatch.malloc(size);
}

static void start_free(void *ptr)
{
	lifecycle_start();
	dispatch.free(ptr);
}

static void *start_calloc(size_t count, size_t size)
{
	lifecycle_start();
	return dispatch.calloc(count, size);
}

static void *start_realloc(void *ptr, size_t size)
{
	lifecycle_start();
	return dispatch.realloc(ptr, size);
}

static void *start_memalign(size_t align, size_t size)
{
	lifecycle_start();
	return dispatch.memalign(align, size);
}

static size_t start_usable_size(void *ptr)
{
	lifecycle_start();
	return dispatch.usable_size(ptr);
}

static void start_free_sized(void *ptr, size_t size)
{
	lifecycle_start();
	dispatch.free_sized(ptr, size);
}

#define START_OPS                                                              \
	{                                                                      \
		.malloc = start_malloc, .free = start_free,                    \
		.calloc = start_calloc, .realloc = start_realloc,              \
		.memalign = start_memalign, .usable_size = start_usable_size,  \
		.free_sized = start_free_sized                                 \
	}

struct dispatch_ops dispatch = START_OPS;
struct dispatch_ops dispatch_plain = START_OPS;
