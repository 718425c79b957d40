/* SPDX-License-Identifier: MIT */
/*
 * stress_preload.c - the stress through the process's own malloc family, under
 * the preloaded shim, with strangers among the blocks.
 *
 *     LD_PRELOAD=liballocmux_shim.so stress_preload PLUGIN ROUNDS BACKEND...
 *
 * PLUGIN is a shared object with pl_malloc, loaded with RTLD_DEEPBIND. Each
 * route here crashes or corrupts plain jemalloc, tcmalloc or mimalloc when
 * preloaded. Exit status 0 if nothing went wrong, 3 if the shim is not there.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stress.h"

extern void *__libc_malloc(size_t size);
void free_sized(void *ptr, size_t size);

static void *(*plugin_malloc)(size_t);

/* Blocks that did not come from our malloc. */

static void *from_libc_private_name(size_t size)
{
	return __libc_malloc(size);
}

static void *from_deepbind_plugin(size_t size)
{
	return plugin_malloc(size);
}

static void *from_libc_function(size_t size)
{
	char *text = NULL;

	return asprintf(&text, "%*s", (int)size, "x") < 0 ? NULL : text;
}

static void *from_libc_handle(size_t size)
{
	static void *(*libc_malloc)(size_t);

	if (!libc_malloc) {
		void *libc = dlopen("libc.so.6", RTLD_NOW);

		libc_malloc = (void *(*)(size_t))dlsym(libc, "malloc");
	}
	return libc_malloc(size);
}

static void *(*const strangers[])(size_t) = {from_libc_private_name,
	from_deepbind_plugin, from_libc_function, from_libc_handle, NULL};

int main(int argc, char **argv)
{
	struct stress_calls calls = {
		.malloc = malloc,
		.free = free,
		.calloc = calloc,
		.realloc = realloc,
		.memalign = memalign,
		.usable_size = malloc_usable_size,
		.free_sized = (void (*)(void *, size_t))dlsym(
			RTLD_DEFAULT, "free_sized"),
		.switch_to = (int (*)(const char *))dlsym(
			RTLD_DEFAULT, "amux_backend_switch"),
		.strangers = strangers,
	};
	void *plugin;

	if (argc < 4) {
		fprintf(stderr,
			"usage: stress_preload PLUGIN ROUNDS BACKEND...\n");
		return 2;
	}
	if (!calls.switch_to || !calls.free_sized) {
		fprintf(stderr, "stress_preload: the shim is not preloaded\n");
		return 3;
	}
	plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	if (!plugin) {
		fprintf(stderr, "stress_preload: %s\n", dlerror());
		return 3;
	}
	plugin_malloc = (void *(*)(size_t))dlsym(plugin, "pl_malloc");
	return stress_run(&calls, (const char *const *)argv + 3, 4,
		       atol(argv[2])) != 0;
}
