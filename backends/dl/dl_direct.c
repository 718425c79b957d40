/* SPDX-License-Identifier: MIT */
/*
 * dl_direct.c - see dl_direct.h.
 *
 * The block of an ordinary request lies right behind its struct. If it must be
 * aligned to more, the struct starts the page before it, and the rest of the
 * range in front is never touched.
 */
#include "dl_direct.h"

#include <sys/mman.h>

#include "os.h"
#include "syscall.h"

static bool in_area(const struct space *space, const void *addr)
{
	return space_in_range(space, addr) && !space_in_heaps(space, addr);
}

static char *run_take(struct space *space, size_t *size, size_t align)
{
	size_t granule = (size_t)1 << GRANULE_LOG;
	void *run;

	lock_acquire(&space->lock);
	run = area_take(space, *size, align);
	lock_release(&space->lock);
	if (run) {
		*size = round_up(*size, granule);
		return run;
	}
	return space_reserve(space, size, NULL);
}

static void run_give(struct space *space, char *run, size_t size)
{
	if (!in_area(space, run)) {
		space_release(space, run, size);
		return;
	}
	/* Failing, it stays accessible: the next user finds it zeroed. */
	if (os_decommit(run, size) && os_purge(run, size)) {
		return; /* not even zeroed: never used again */
	}
	lock_acquire(&space->lock);
	area_give(space, run, size);
	lock_release(&space->lock);
}

static void link_direct(struct space *space, struct direct *d)
{
	lock_acquire(&space->lock);
	d->prev = NULL;
	d->next = space->directs;
	if (d->next) {
		d->next->prev = d;
	}
	space->directs = d;
	space->direct_blocks++;
	space->direct_bytes += d->committed;
	lock_release(&space->lock);
}

static void unlink_direct(struct space *space, struct direct *d)
{
	lock_acquire(&space->lock);
	AMUX_CHECK(d->prev ? d->prev->next == d : space->directs == d);
	if (d->prev) {
		d->prev->next = d->next;
	} else {
		space->directs = d->next;
	}
	if (d->next) {
		d->next->prev = d->prev;
	}
	space->direct_blocks--;
	space->direct_bytes -= d->committed;
	space->direct_returned += d->committed;
	lock_release(&space->lock);
}

void *direct_allocate(struct space *space, size_t align, size_t size,
	size_t slack, uint64_t secret)
{
	size_t page = os_page_size();
	size_t lead = align > sizeof(struct direct) ? align : 0;
	size_t offset = sizeof(struct direct);
	size_t reserved;
	char *run;
	struct direct *d;

	if (add_overflows(size, slack, &reserved) ||
		add_overflows(reserved, 2 * lead + 2 * page, &reserved)) {
		return NULL;
	}
	reserved = round_up(reserved, page);
	run = run_take(space, &reserved, lead > page ? lead : page);
	if (!run) {
		return NULL;
	}
	d = (struct direct *)run;
	if (lead) {
		char *block = (char *)round_up(
			(uintptr_t)run + sizeof(struct direct), lead);

		d = (struct direct *)round_down(
			(uintptr_t)block - sizeof(struct direct), page);
		offset = (size_t)(block - (char *)d);
	}

	size_t committed = round_up(offset + size, page);

	if (os_commit(d, committed)) {
		run_give(space, run, reserved);
		return NULL;
	}
	d->run = run;
	d->reserved = reserved;
	d->committed = committed;
	d->check = secret ^ (uintptr_t)d;
	store_relaxed(&d->head, offset | DIRECT | IN_USE);
	/* A chunk's head, wherever the block is. */
	chunk_set_head(chunk_of((char *)d + offset), offset | DIRECT | IN_USE);
	link_direct(space, d);
	return (char *)d + offset;
}

void direct_free(struct space *space, struct direct *d)
{
	char *run = d->run;
	size_t reserved = d->reserved;

	unlink_direct(space, d);
	run_give(space, run, reserved);
}

static void set_committed(
	struct space *space, struct direct *d, size_t committed)
{
	lock_acquire(&space->lock);
	space->direct_bytes += committed - d->committed;
	if (committed < d->committed) {
		space->direct_returned += d->committed - committed;
	}
	d->committed = committed;
	lock_release(&space->lock);
}

/*
 * The same pages elsewhere, without copying. MREMAP_DONTUNMAP keeps the old
 * range mapped: nobody else may land there before it is reserved again.
 */
static void *move(struct space *space, struct direct *d, size_t committed,
	uint64_t secret)
{
	struct direct old = *d;
	size_t offset = load_relaxed(&d->head) & ~FLAGS;
	/* As much again, so that growing in steps moves rarely. */
	size_t reserved;
	char *run;

	if (mul_overflows(committed, 2, &reserved)) {
		return NULL;
	}
	run = run_take(space, &reserved, 0);
	if (!run) {
		return NULL;
	}
	/* What can fail first: after the move there is no way back. */
	if (os_commit(run + old.committed, committed - old.committed)) {
		run_give(space, run, reserved);
		return NULL;
	}
	unlink_direct(space, d);

	long ret = sys6(SYS_mremap, d, old.committed, old.committed,
		MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, run, 0);

	if (sys_failed(ret)) {
		link_direct(space, d);
		run_give(space, run, reserved);
		return NULL;
	}

	struct direct *new = (struct direct *)run;

	new->run = run;
	new->reserved = reserved;
	new->committed = committed;
	new->check = secret ^ (uintptr_t) new;
	link_direct(space, new);
	run_give(space, old.run, old.reserved);
	return run + offset;
}

void *direct_resize(
	struct space *space, struct direct *d, size_t size, uint64_t secret)
{
	size_t page = os_page_size();
	size_t offset = load_relaxed(&d->head) & ~FLAGS;
	size_t committed = round_up(offset + size, page);
	size_t room = d->reserved - (size_t)((char *)d - d->run);
	char *end = (char *)d + d->committed;

	if (committed == d->committed) {
		return (char *)d + offset;
	}
	if (committed < d->committed) {
		if (os_decommit(
			    (char *)d + committed, d->committed - committed)) {
			os_purge((char *)d + committed,
				d->committed - committed);
			return (char *)d + offset;
		}
		set_committed(space, d, committed);
		return (char *)d + offset;
	}
	if (committed <= room && !os_commit(end, committed - d->committed)) {
		set_committed(space, d, committed);
		return (char *)d + offset;
	}
	return move(space, d, committed, secret);
}

struct direct *direct_of(struct space *space, const void *block,
	uint64_t secret, const char **fault)
{
	size_t page = os_page_size();
	struct extent extent;

	if ((uintptr_t)block & (MALLOC_ALIGN - 1)) {
		*fault = "misaligned pointer";
		return NULL;
	}
	if (in_area(space, block)) {
		if (!area_is_taken(space, block)) {
			*fault = "double free or not a block";
			return NULL;
		}
	} else if (!space_find(space, block, &extent) || extent.heap) {
		*fault = "double free or not a block";
		return NULL;
	}

	size_t head = chunk_head(chunk_of(block));
	size_t offset = head & ~FLAGS;
	struct direct *d = (struct direct *)((uintptr_t)block - offset);

	if ((head & FLAGS) != (DIRECT | IN_USE) ||
		offset < sizeof(struct direct) || offset > 2 * page ||
		d->check != (secret ^ (uintptr_t)d) ||
		load_relaxed(&d->head) != head) {
		*fault = "corrupted block header";
		return NULL;
	}
	return d;
}

size_t direct_usable(const struct direct *d)
{
	return d->committed - (load_relaxed(&d->head) & ~FLAGS);
}
