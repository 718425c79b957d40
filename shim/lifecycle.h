/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.h - start, fork, and the run-time switch.
 *
 * Start is lazy: whichever interposed function is called first, on whatever
 * thread, starts the library; usually long before our constructor. A built-in
 * backend serves from that call on. A backend that must be loaded waits for
 * our constructor, and libc serves until then: its blocks go home like any
 * foreign block. So nothing here ever runs dlopen inside somebody's malloc.
 * lifecycle_start() itself is declared in dispatch.h.
 */
#ifndef AMUX_LIFECYCLE_H
#define AMUX_LIFECYCLE_H

#include <stddef.h>

/*
 * Load the backend that start left waiting. Called once where dlopen is safe:
 * by the shim's constructor, before main or inside the dlopen that loads it.
 */
void lifecycle_load_pending(void);

/* Serve new blocks from NAME. 0, or an errno value with the reason in why. */
int lifecycle_switch(const char *name, char *why, size_t size);

#endif
