/* SPDX-License-Identifier: MIT */
/*
 * lock.h - a 4-byte futex lock that survives fork.
 *
 * Why not pthread_mutex_t: programs interpose pthread_mutex_lock and allocate
 * inside it, and a mutex has no answer for fork. This lock is one word, taken
 * and released by one atomic instruction when free.
 *
 * Ranks: a thread takes locks in rising rank only. Debug builds abort on a
 * violation, so a deadlock shows on the first wrong order, not on the first
 * collision.
 *
 * Fork: locks_prefork() leaves every lock held *by the forking thread*, in a
 * state that lets this same thread go on allocating (handlers of the program
 * may run after ours): acquiring then succeeds at once and releasing is a
 * no-op. locks_postfork() frees them in parent and child.
 *
 * A lock must not be taken in a signal handler.
 */
#ifndef AMUX_BASE_LOCK_H
#define AMUX_BASE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "atomic.h"
#include "check.h"
#include "compiler.h"

/* In rising order: who holds one may take one further down this list. */
enum lock_rank {
	LOCK_RANK_INIT = 1,    /* dispatch: start-up and backend switch */
	LOCK_RANK_REGISTRY,    /* registry: the table of backends */
	LOCK_RANK_TRACE_STATE, /* trace: start and stop */
	LOCK_RANK_DISPATCH,    /* dispatch: which table is current */
	LOCK_RANK_LIVE,        /* trace: a shard of live blocks */
	LOCK_RANK_LANE,        /* trace: the lane of ended threads */
	LOCK_RANK_TRACE,       /* trace: file, stacks, modules */
	LOCK_RANK_HEAP,        /* backends: one heap, class or bin */
	LOCK_RANK_PAGES,       /* backends: spans and extents below them */
	LOCK_RANK_WINDOW,      /* external: placement of a library's mappings */
	LOCK_RANK_OWNER,       /* owner: registration of ranges */
	LOCK_RANK_COUNT
};

enum lock_state {
	LOCK_FREE = 0,
	LOCK_HELD = 1,
	LOCK_CONTENDED = 2, /* held, and somebody sleeps */
	LOCK_FORKING = 3    /* held across fork by the forking thread */
};

struct lock {
	_Atomic uint32_t state; /* sync: atomic; enum lock_state */
	uint32_t rank;          /* sync: constant */
};

/* Static initialiser, so that locks need no constructor. */
#define LOCK_INIT(r)                                                           \
	{                                                                      \
		.state = LOCK_FREE, .rank = (r)                                \
	}

void lock_acquire_slow(struct lock *lock);
void lock_release_slow(struct lock *lock, uint32_t state);

/* Are ranks read at all? If not, locks of .bss may stay untouched. */
#ifdef NDEBUG
	#define LOCK_RANKS 0
#else
	#define LOCK_RANKS 1
#endif

#ifdef NDEBUG
static inline void lock_rank_enter(const struct lock *lock)
{
	(void)lock;
}
static inline void lock_rank_leave(const struct lock *lock)
{
	(void)lock;
}
#else
void lock_rank_enter(const struct lock *lock);
void lock_rank_leave(const struct lock *lock);
#endif

static inline void lock_init(struct lock *lock, enum lock_rank rank)
{
	store_relaxed(&lock->state, LOCK_FREE);
	lock->rank = rank;
}

static inline bool lock_try_acquire(struct lock *lock)
{
	uint32_t expected = LOCK_FREE;

	/* acquire: pairs with the release in lock_release(). */
	if (!cas_acquire(&lock->state, &expected, LOCK_HELD)) {
		return false;
	}
	lock_rank_enter(lock);
	return true;
}

/* Price when free: one compare-and-swap. */
static inline void lock_acquire(struct lock *lock)
{
	uint32_t expected = LOCK_FREE;

	if (unlikely(!cas_acquire(&lock->state, &expected, LOCK_HELD))) {
		lock_acquire_slow(lock);
	}
	lock_rank_enter(lock);
}

/* Price when nobody waits: one compare-and-swap. */
static inline void lock_release(struct lock *lock)
{
	uint32_t expected = LOCK_HELD;

	lock_rank_leave(lock);
	/* release: pairs with the acquire in lock_acquire(). */
	if (unlikely(!cas_release(&lock->state, &expected, LOCK_FREE))) {
		lock_release_slow(lock, expected);
	}
}

/*
 * Around fork(2). lock_prefork() takes the lock for the forking thread and
 * leaves it in LOCK_FORKING; call it for every lock in rising rank, after
 * lock_fork_begin(). lock_postfork() frees it in parent and child alike; call
 * lock_fork_end() last.
 */
void lock_fork_begin(void);
void lock_prefork(struct lock *lock);
void lock_postfork(struct lock *lock);
void lock_fork_end(void);

#endif
