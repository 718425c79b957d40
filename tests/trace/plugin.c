/* SPDX-License-Identifier: MIT */
/*
 * plugin.c - a shared object that allocates, to be loaded and unloaded.
 */
#include <stdlib.h>

void *plugin_allocate(size_t size);

void *plugin_allocate(size_t size)
{
	void *volatile ptr = malloc(size);

	return ptr;
}
