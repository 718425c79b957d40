/* SPDX-License-Identifier: MIT */
/*
 * host.c - the functions behind struct amux_host.
 *
 * `self` is the owner id; everything else is looked up by it.
 */
#include "host.h"

#include <errno.h>
#include <stdint.h>

#include "badptr.h"
#include "base/bits.h"
#include "base/log.h"
#include "base/os.h"
#include "config.h"
#include "dispatch.h"
#include "owner.h"
#include "registry.h"

static unsigned owner_id(const struct amux_host *host)
{
	return (unsigned)(uintptr_t)host->self;
}

static void *host_reserve(
	const struct amux_host *host, size_t size, size_t align)
{
	void *addr;

	/* Whole granules are answered by the owner map's first byte load. */
	if (size >= OWNER_GRANULE && align < OWNER_GRANULE) {
		align = OWNER_GRANULE;
	}
	if (os_reserve_aligned(size, align, &addr)) {
		return NULL;
	}
	if (owner_register(addr, size, owner_id(host))) {
		os_unmap(addr, size);
		return NULL;
	}
	return addr;
}

static void host_release(const struct amux_host *host, void *addr, size_t size)
{
	/* First the map: after the unmap the space may be anybody's. */
	if (owner_unregister(addr, size) == 0) {
		os_unmap(addr, size);
	}
}

static const char *host_option(const struct amux_host *host, const char *name)
{
	return config_backend_option(registry_name(owner_id(host)), name);
}

static void host_log(const struct amux_host *host, const char *line)
{
	log_line("%s: %s", registry_name(owner_id(host)), line);
}

static void host_bad_pointer(const struct amux_host *host, const char *call,
	const void *ptr, const char *what)
{
	badptr_report(call, ptr, what);
}

void host_init(struct amux_host *host, unsigned id)
{
	*host = (struct amux_host){
		.abi = AMUX_BACKEND_ABI,
		.size = sizeof(*host),
		.self = (void *)(uintptr_t)id,
		.reserve = host_reserve,
		.release = host_release,
		.option = host_option,
		.log = host_log,
		.bad_pointer = host_bad_pointer,
		.foreign_free = dispatch_foreign_free,
		.foreign_realloc = dispatch_foreign_realloc,
		.foreign_usable_size = dispatch_foreign_usable_size,
	};
}
