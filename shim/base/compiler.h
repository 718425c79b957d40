/* SPDX-License-Identifier: MIT */
/*
 * compiler.h - the few things we ask of the compiler beyond C11.
 *
 * gcc 12 and clang 14 or later. Nothing here has state.
 */
#ifndef AMUX_BASE_COMPILER_H
#define AMUX_BASE_COMPILER_H

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define AMUX_ALWAYS_INLINE static inline __attribute__((always_inline))
#define AMUX_NOINLINE      __attribute__((noinline))
#define AMUX_COLD          __attribute__((noinline, cold))
#define AMUX_PRINTF(f, a)  __attribute__((format(printf, f, a)))

/*
 * A function that reads what others write without a lock, where any value will
 * do or the caller's ownership makes it stable: not for ThreadSanitizer.
 */
#define AMUX_RACY __attribute__((no_sanitize("thread")))

/* A symbol of the shared library; everything else is hidden. */
#define AMUX_API __attribute__((visibility("default")))

/*
 * A variable shared between our own files: without this an extern declaration
 * is reached through the GOT, one load more.
 */
#define AMUX_HIDDEN __attribute__((visibility("hidden")))

/*
 * Thread-local storage of the cheap kind: one load relative to the thread
 * pointer, no call, no allocation. It comes out of the static TLS block, so
 * the whole library keeps to 64 bytes of it (checked by tests/lint/elf.sh).
 */
#define AMUX_THREAD __thread __attribute__((tls_model("initial-exec")))

#endif
