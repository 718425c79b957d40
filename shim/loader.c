/* SPDX-License-Identifier: MIT */
/*
 * loader.c - see loader.h.
 */
#include "loader.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

struct loader_real loader_real = {.dlopen_mask = ~0};

static struct {
	int (*dlclose)(void *);
	char *(*dlerror)(void);
} g; /* sync: set in loader_start, then constant */

static int find_libdl(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *name = info->dlpi_name;
	const char *slash = name ? strrchr(name, '/') : NULL;

	if (!slash || strcmp(slash + 1, "libdl.so.2") != 0) {
		return 0;
	}
	return elf_find_by_address(
		(const void *)(info->dlpi_addr + info->dlpi_phdr[0].p_vaddr),
		arg);
}

void loader_start(const struct elf_object *libc)
{
	struct elf_object home = *libc;

	if (!elf_symbol(&home, "dlopen") &&
		!dl_iterate_phdr(find_libdl, &home)) {
		return;
	}
	g.dlclose = elf_symbol(&home, "dlclose");
	g.dlerror = elf_symbol(&home, "dlerror");
	loader_real.dlopen = elf_symbol(&home, "dlopen");
	loader_real.dlvsym = elf_symbol(&home, "dlvsym");
	loader_real.dlsym = elf_symbol(&home, "dlsym");
}

void *loader_open(const char *file, int flags)
{
	return loader_real.dlopen ? loader_real.dlopen(file, flags) : NULL;
}

void *loader_symbol(void *handle, const char *name)
{
	return loader_real.dlsym ? loader_real.dlsym(handle, name) : NULL;
}

int loader_close(void *handle)
{
	return g.dlclose ? g.dlclose(handle) : -1;
}

const char *loader_error(void)
{
	const char *error = g.dlerror ? g.dlerror() : NULL;

	return error ? error : "no dynamic loader in this process";
}
