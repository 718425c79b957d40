/* SPDX-License-Identifier: MIT */
/*
 * modules.h - which object an address belonged to, and when.
 */
#ifndef AMUX_TRACE_MODULES_H
#define AMUX_TRACE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <link.h>

/*
 * Record the modules that these addresses are in, as far as they are new, and
 * those that have gone. Under the trace lock. Takes no lock of the dynamic
 * linker and never allocates. Returns the epoch in which the addresses are to
 * be read.
 */
uint32_t modules_note(const uint64_t *frames, size_t count);

/* Modules recorded so far. */
uint32_t modules_count(void);

/* Forget all: a new file begins. No other thread runs. */
void modules_reset(void);

/*
 * As dl_iterate_phdr(3), over the modules recorded so far; the loader's lock
 * is not taken. Under the trace lock.
 */
int modules_iterate(
	int (*visit)(struct dl_phdr_info *info, size_t size, void *arg),
	void *arg);

/* Start of the module that contains pc in a new module; false if none or
 * known. Under the trace lock. */
bool modules_learn(uint64_t pc);

#endif
