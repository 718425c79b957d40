/* SPDX-License-Identifier: MIT */
/*
 * host.h - a host for unit tests of a backend: real memory, no shim.
 *
 * It reserves address space from the kernel, remembers what was reserved so
 * that a test can ask, counts bad pointers instead of aborting, and treats
 * every foreign pointer as libc's.
 */
#ifndef AMUX_TESTS_HOST_H
#define AMUX_TESTS_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include <allocmux/backend.h>

/* The host handed to init(). Options are looked up in the environment as the
 * shim would: ALLOC_<backend>_<NAME>. */
const struct amux_host *test_host(const char *backend);

/* Does ptr lie in a range that was reserved and not released? */
bool test_host_covers(const void *ptr);

/* Bad pointers reported so far, and the last one's reason. */
int test_host_bad_pointers(void);
const char *test_host_last_reason(void);

/* Pointers handed to foreign_free/realloc/usable_size so far. */
int test_host_foreign_calls(void);

#endif
