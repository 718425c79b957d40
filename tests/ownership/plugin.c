/* SPDX-License-Identifier: MIT */
/*
 * plugin.c - a plugin that allocates; how its malloc is bound is decided by how
 * it is loaded.
 */
#include <stdlib.h>

void *pl_malloc(size_t size);

void *pl_malloc(size_t size)
{
	return malloc(size);
}
