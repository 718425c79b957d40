/* SPDX-License-Identifier: MIT */
/*
 * atomic.h - the memory orders we use, each under the name of its purpose.
 *
 * The wrappers are macros because they serve every width; each evaluates its
 * arguments once. Variables they are used on are declared _Atomic.
 */
#ifndef AMUX_BASE_ATOMIC_H
#define AMUX_BASE_ATOMIC_H

#include <stdatomic.h>

#define load_relaxed(p)     atomic_load_explicit(p, memory_order_relaxed)
#define load_acquire(p)     atomic_load_explicit(p, memory_order_acquire)
#define store_relaxed(p, v) atomic_store_explicit(p, v, memory_order_relaxed)
#define store_release(p, v) atomic_store_explicit(p, v, memory_order_release)

#define add_relaxed(p, v) atomic_fetch_add_explicit(p, v, memory_order_relaxed)
#define sub_relaxed(p, v) atomic_fetch_sub_explicit(p, v, memory_order_relaxed)
#define add_acq_rel(p, v) atomic_fetch_add_explicit(p, v, memory_order_acq_rel)
#define sub_acq_rel(p, v) atomic_fetch_sub_explicit(p, v, memory_order_acq_rel)

#define xchg_acquire(p, v) atomic_exchange_explicit(p, v, memory_order_acquire)
#define xchg_release(p, v) atomic_exchange_explicit(p, v, memory_order_release)
#define xchg_acq_rel(p, v) atomic_exchange_explicit(p, v, memory_order_acq_rel)

/* Strong compare-and-swap: *expected is updated on failure. */
#define cas_acquire(p, expected, v)                                            \
	atomic_compare_exchange_strong_explicit(                               \
		p, expected, v, memory_order_acquire, memory_order_relaxed)
#define cas_release(p, expected, v)                                            \
	atomic_compare_exchange_strong_explicit(                               \
		p, expected, v, memory_order_release, memory_order_relaxed)
#define cas_acq_rel(p, expected, v)                                            \
	atomic_compare_exchange_strong_explicit(                               \
		p, expected, v, memory_order_acq_rel, memory_order_acquire)

/* A hint inside a spin loop. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif
