/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
void *lu_malloc(size_t n)
{
	return malloc(n);
}
void lu_free(void *p)
{
	free(p);
}
void *lu_realloc(void *p, size_t n)
{
	return realloc(p, n);
}
