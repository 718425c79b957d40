/* SPDX-License-Identifier: MIT */
/*
 * control.h - the channel by which a running program is told what to do.
 *
 * Off (the default): no thread, no descriptor, no signal handler, no code run.
 * On: one helper thread, all signals blocked, sleeps in accept(2) on the
 * socket that <allocmux/control.h> describes and serves one request at a time.
 * It is an ordinary thread of the program, created by pthread_create(3),
 * because what it is asked to do loads libraries. Its sockets are
 * close-on-exec.
 *
 * Fork: a child has no channel, unless ALLOC_CONTROL=fork.
 * Not here: what the commands do (commands.c).
 */
#ifndef AMUX_CONTROL_H
#define AMUX_CONTROL_H

/* In our constructor: listen if ALLOC_CONTROL says so. */
void control_start_if_asked(void);

/*
 * Listen from now on; nothing if that is so already. 0, or an errno value: then
 * there is no channel. Not async-signal-safe.
 */
int control_start(void);

/* The thread ends after the request that it is at, if any. */
void control_stop(void);

/* In the child of fork, after all locks are free again. */
void control_postfork_child(void);

#endif
