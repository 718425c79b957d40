/* SPDX-License-Identifier: MIT */
/* server.h - the server form of compare. */
#ifndef AMUX_TOOLS_SERVER_H
#define AMUX_TOOLS_SERVER_H

#include "measure.h"
#include "substitute.h"

/*
 * Start the plan's server under the subject, wait until it is ready, run the
 * load outside the shim while the server's memory is sampled, and stop it.
 * Fills the run; `load` has the load's output afterwards.
 */
void measure_server(
	const struct place *place, const struct capture *load, struct run *run);

#endif
