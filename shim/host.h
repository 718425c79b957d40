/* SPDX-License-Identifier: MIT */
/*
 * host.h - what each backend is given: struct amux_host of backend.h.
 */
#ifndef AMUX_HOST_H
#define AMUX_HOST_H

#include <allocmux/backend.h>

/* Fill the host of owner id; name as in registry_name(), kept by reference. */
void host_init(struct amux_host *host, unsigned id);

#endif
