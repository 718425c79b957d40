/* SPDX-License-Identifier: MIT */
/*
 * dl_private.c - heaps of one's own ("mspaces").
 *
 * A growing heap lies, struct and all, in extents of its own and goes back
 * whole when destroyed. A heap over a caller's memory uses nothing else: the
 * struct comes first, then the chunks. Such memory may be shared by a process
 * and its forked children (MAP_SHARED, created before the fork): the struct
 * holds addresses, so it must be mapped at the same place in each, which fork
 * guarantees. Its lock waits by yielding. It takes no part in fork(2): no
 * thread may be inside it when the process forks.
 *
 * Private heaps have no thread caches and no direct blocks.
 */
#include <errno.h>
#include <string.h>

#include "dl_instance.h"
#include "os.h"

#define HEAP_HEADER round_up(sizeof(struct heap), MALLOC_ALIGN)

static void *create_over(struct dl *dl, void *memory, size_t size)
{
	struct heap *heap = memory;

	if ((uintptr_t)memory & (MALLOC_ALIGN - 1) ||
		size < HEAP_HEADER + TOP_MIN) {
		errno = EINVAL;
		return NULL;
	}
	memset(heap, 0, sizeof(*heap));
	heap_init(heap, HEAP_CALLER, NULL, dl_overhead(dl), dl->secret);
	size = round_down(size - HEAP_HEADER, MALLOC_ALIGN);
	heap_set_first_segment(heap, (char *)memory + HEAP_HEADER, size, size);
	store_release(&heap->ready, true);
	return heap;
}

static void *create_growing(struct dl *dl, size_t size)
{
	size_t page = os_page_size();
	size_t first = round_up(HEAP_HEADER + TOP_MIN, page);
	size_t reserved = size;
	struct heap *heap;
	char *base;

	if (size > MAX_OBJECT / 2) {
		errno = ENOMEM;
		return NULL;
	}
	reserved = reserved > first ? reserved : first;
	base = space_reserve(&dl->space, &reserved, SPACE_SELF);
	if (!base) {
		errno = ENOMEM;
		return NULL;
	}
	if (os_commit(base, first)) {
		space_release(&dl->space, base, reserved);
		errno = ENOMEM;
		return NULL;
	}
	heap = (struct heap *)base;
	heap_init(heap, HEAP_PRIVATE, &dl->space, dl_overhead(dl), dl->secret);
	heap->top_pad = load_relaxed(&dl->top_pad);
	heap->trim_threshold = load_relaxed(&dl->trim_threshold);
	heap_set_first_segment(heap, base + HEAP_HEADER, first - HEAP_HEADER,
		reserved - HEAP_HEADER);
	store_release(&heap->ready, true);
	lock_acquire(&dl->private_lock);
	heap->next_private = dl->privates;
	dl->privates = heap;
	lock_release(&dl->private_lock);
	return heap;
}

void *dl_heap_create(struct dl *dl, void *memory, size_t size)
{
	return memory ? create_over(dl, memory, size)
		      : create_growing(dl, size);
}

void dl_heap_destroy(struct dl *dl, void *arg)
{
	struct heap *heap = arg;
	struct segment *next;

	if (heap->kind == HEAP_CALLER) {
		return;
	}
	lock_acquire(&dl->private_lock);
	for (struct heap **link = &dl->privates; *link;
		link = &(*link)->next_private) {
		if (*link == heap) {
			*link = heap->next_private;
			break;
		}
	}
	lock_release(&dl->private_lock);

	/* The heap itself lies in front of its first segment: that goes last.
	 */
	struct segment first = heap->first;

	for (struct segment *s = heap->segments; s; s = next) {
		next = s->next;
		if (s != &heap->first) {
			space_release(&dl->space, s,
				s->reserved + (size_t)(s->base - (char *)s));
		}
	}
	space_release(&dl->space, heap, first.reserved + HEAP_HEADER);
}

static void *finish(struct chunk *chunk)
{
	if (!chunk) {
		errno = ENOMEM;
		return NULL;
	}
	return block_of(chunk);
}

void *dl_heap_malloc(struct dl *dl, void *arg, size_t size)
{
	struct heap *heap = arg;
	struct chunk *chunk = NULL;

	if (size <= MAX_OBJECT / 2) {
		bool locked = heap_enter(heap);

		chunk = heap_allocate(
			heap, chunk_size_for(size, heap->overhead));
		heap_leave(heap, locked);
	}
	return finish(chunk);
}

void *dl_heap_memalign(struct dl *dl, void *arg, size_t align, size_t size)
{
	struct heap *heap = arg;
	struct chunk *chunk = NULL;

	if (align <= MALLOC_ALIGN) {
		return dl_heap_malloc(dl, heap, size);
	}
	if (size <= MAX_OBJECT / 2 && align <= MAX_OBJECT / 4) {
		bool locked = heap_enter(heap);

		chunk = heap_allocate_aligned(
			heap, align, chunk_size_for(size, heap->overhead));
		heap_leave(heap, locked);
	}
	return finish(chunk);
}

void *dl_heap_realloc(struct dl *dl, void *arg, void *block, size_t size)
{
	struct heap *heap = arg;
	struct chunk *chunk = chunk_of(block);
	size_t have = 0;
	const char *fault;
	bool done = false;
	bool locked;
	void *new;

	if (size > MAX_OBJECT / 2) {
		errno = ENOMEM;
		return NULL;
	}
	locked = heap_enter(heap);
	fault = heap_fault(heap, chunk);
	if (!fault) {
		have = heap_usable(heap, chunk);
		done = heap_resize(
			heap, chunk, chunk_size_for(size, heap->overhead));
	}
	heap_leave(heap, locked);
	if (fault) {
		dl->host->bad_pointer(dl->host, "heap_realloc", block, fault);
		errno = ENOMEM;
		return NULL;
	}
	if (done) {
		return block;
	}
	new = dl_heap_malloc(dl, heap, size);
	if (new) {
		memcpy(new, block, have < size ? have : size);
		dl_heap_free(dl, heap, block);
	}
	return new;
}

void dl_heap_free(struct dl *dl, void *arg, void *block)
{
	struct heap *heap = arg;
	bool locked = heap_enter(heap);
	const char *fault = heap_fault(heap, chunk_of(block));

	if (!fault) {
		heap_free(heap, chunk_of(block));
	}
	heap_leave(heap, locked);
	if (fault) {
		dl->host->bad_pointer(dl->host, "heap_free", block, fault);
	}
}

int dl_for_each_private(
	struct dl *dl, int (*visit)(struct heap *heap, void *arg), void *arg)
{
	int stop = 0;

	lock_acquire(&dl->private_lock);
	for (struct heap *h = dl->privates; h && !stop; h = h->next_private) {
		bool locked = heap_enter(h);

		stop = visit(h, arg);
		heap_leave(h, locked);
	}
	lock_release(&dl->private_lock);
	return stop;
}
