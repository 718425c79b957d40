/* SPDX-License-Identifier: MIT */
/*
 * lock.c - the slow half of the futex lock: waiting, waking, fork.
 *
 * Invariants:
 *   - a sleeper sleeps only on CONTENDED or FORKING, and whoever leaves either
 *     of these states wakes;
 *   - LOCK_FORKING is entered and left by the forking thread alone.
 * Locks: fork_lock serialises forking threads.
 */
#include "lock.h"

#include "os.h"

static struct {
	struct lock fork_lock;   /* sync: itself */
	_Atomic(void *) forking; /* sync: atomic; thread pointer or NULL */
} g = {.fork_lock = LOCK_INIT(0)};

/* The same in the child of fork, which gettid(2) is not. */
static void *this_thread(void)
{
	return __builtin_thread_pointer();
}

void lock_acquire_slow(struct lock *lock)
{
	enum { SPINS = 100 };

	for (int i = 0; i < SPINS; i++) {
		uint32_t expected = LOCK_FREE;

		if (load_relaxed(&lock->state) == LOCK_FREE &&
			cas_acquire(&lock->state, &expected, LOCK_HELD)) {
			return;
		}
		cpu_relax();
	}
	for (;;) {
		uint32_t state = load_relaxed(&lock->state);

		if (state == LOCK_FREE) {
			/* CONTENDED, since others may sleep behind us. */
			if (cas_acquire(&lock->state, &state, LOCK_CONTENDED)) {
				return;
			}
			continue;
		}
		if (state == LOCK_FORKING &&
			load_relaxed(&g.forking) == this_thread()) {
			return; /* ours already; see lock.h, "Fork" */
		}
		if (state == LOCK_HELD &&
			!cas_acquire(&lock->state, &state, LOCK_CONTENDED)) {
			continue;
		}
		os_futex_wait(&lock->state,
			state == LOCK_FORKING ? LOCK_FORKING : LOCK_CONTENDED);
	}
}

void lock_release_slow(struct lock *lock, uint32_t state)
{
	if (state == LOCK_FORKING) {
		return;
	}
	AMUX_CHECK(state == LOCK_CONTENDED);
	/* release: pairs with the acquire of the next owner. */
	store_release(&lock->state, LOCK_FREE);
	os_futex_wake(&lock->state, 1);
}

void lock_fork_begin(void)
{
	lock_acquire(&g.fork_lock);
	store_relaxed(&g.forking, this_thread());
}

void lock_prefork(struct lock *lock)
{
	lock_acquire(lock);
	lock_rank_leave(lock); /* not nested in what the handlers do next */
	store_relaxed(&lock->state, LOCK_FORKING);
}

void lock_postfork(struct lock *lock)
{
	store_release(&lock->state, LOCK_FREE);
	/* Sleepers may have come while the state did not say so. */
	os_futex_wake(&lock->state, INT32_MAX);
}

void lock_fork_end(void)
{
	store_relaxed(&g.forking, NULL);
	lock_release(&g.fork_lock);
}

#ifndef NDEBUG

/* Bit r is set while this thread holds a lock of rank r. */
static AMUX_THREAD uint32_t held_ranks;

void lock_rank_enter(const struct lock *lock)
{
	if (lock->rank == 0 || load_relaxed(&lock->state) == LOCK_FORKING) {
		return;
	}
	/* Equal ranks may nest: heaps of one backend, in address order. */
	AMUX_CHECK(held_ranks >> (lock->rank + 1) == 0);
	held_ranks |= 1u << lock->rank;
}

void lock_rank_leave(const struct lock *lock)
{
	if (lock->rank == 0 || load_relaxed(&lock->state) == LOCK_FORKING) {
		return;
	}
	held_ranks &= ~(1u << lock->rank);
}

#endif
