/* SPDX-License-Identifier: MIT */
/*
 * conformance.h - what the conformance programs share.
 *
 * The programs know nothing of Allocmux: they check what malloc(3),
 * posix_memalign(3), malloc_usable_size(3), C23 and C++17 promise, through the
 * public functions, so they also run on plain libc. AMUX_EXPECT_LIBRARY names
 * the object that malloc must come from; the first test of each program checks
 * it, because a suite that tests libc by mistake is always green.
 *
 * Compile with -fno-builtin: compilers fold malloc and free away.
 */
#ifndef AMUX_TESTS_CONFORMANCE_H
#define AMUX_TESTS_CONFORMANCE_H

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* Deterministic pseudo-random numbers (xorshift32); *state is never 0. */
static inline unsigned random_next(unsigned *state)
{
	unsigned x = *state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return *state = x;
}

/* The object that holds the function NAME of the global scope. */
static inline const char *object_of(const char *name, char *path)
{
	void *address = dlsym(RTLD_DEFAULT, name);
	Dl_info info;

	if (!address || !dladdr(address, &info) ||
		!realpath(info.dli_fname, path)) {
		return "nowhere";
	}
	return path;
}

/* Fails the test unless NAME comes from AMUX_EXPECT_LIBRARY. */
static inline void assert_interposed(const char *name)
{
	const char *library = getenv("AMUX_EXPECT_LIBRARY");
	char expected[PATH_MAX], path[PATH_MAX];

	if (!library) {
		fail_msg("AMUX_EXPECT_LIBRARY is not set");
	}
	if (!realpath(library, expected)) {
		fail_msg("no library %s", library);
	}
	if (strcmp(object_of(name, path), expected) != 0) {
		fail_msg("%s comes from %s", name, object_of(name, path));
	}
}

static inline void assert_aligned(const void *ptr, size_t align)
{
	assert_non_null(ptr);
	assert_int_equal((uintptr_t)ptr % align, 0);
}

/* Every byte of the block is VALUE. */
static inline void assert_filled(
	const unsigned char *block, size_t size, unsigned char value)
{
	for (size_t i = 0; i < size; i++) {
		if (block[i] != value) {
			fail_msg("byte %zu of %zu is %u, not %u", i, size,
				block[i], value);
		}
	}
}

/* Waits for a forked child and fails the test unless it exits with 0. */
static inline void assert_child_succeeds(pid_t pid)
{
	int status;

	assert_true(pid > 0);
	while (waitpid(pid, &status, 0) < 0) {
		assert_int_equal(errno, EINTR);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fail_msg("the child ended with status %#x", (unsigned)status);
	}
}

#endif
