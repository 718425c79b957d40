/* SPDX-License-Identifier: MIT */
/*
 * api.c - the functions of <allocmux/allocmux.h>.
 */
#include <allocmux/allocmux.h>

#include "base/compiler.h"
#include "base/log.h"
#include "dispatch.h"
#include "lifecycle.h"
#include "owner.h"
#include "registry.h"
#include "trace/trace.h"

AMUX_API const char *amux_version(void)
{
	return AMUX_VERSION;
}

AMUX_API const char *amux_backend_active(void)
{
	lifecycle_start();
	return registry_name(dispatch_active());
}

AMUX_API int amux_backend_switch(const char *name)
{
	char why[REGISTRY_WHY_SIZE];
	int err = lifecycle_switch(name, why, sizeof(why));

	if (err) {
		log_line("%s; nothing changed", why);
	}
	return err;
}

AMUX_API const char *amux_owner(const void *ptr)
{
	return registry_name(dispatch_owner(ptr));
}

AMUX_API int amux_trace_start(const char *mode, const char *file)
{
	lifecycle_start();
	return trace_start(mode, file);
}

AMUX_API int amux_trace_stop(void)
{
	return trace_stop();
}

AMUX_API int amux_trace_snapshot(void)
{
	return trace_snapshot();
}

AMUX_API const char *amux_trace_file(void)
{
	return trace_file();
}
