/* SPDX-License-Identifier: MIT */
/*
 * info.h - glibc's introspection and tuning calls, answered truthfully.
 *
 * With `system` active they are libc's own. Otherwise the figures are the
 * active backend's, in glibc's terms; what has no meaning there is 0.
 */
#ifndef AMUX_INFO_H
#define AMUX_INFO_H

#include <stddef.h>
#include <stdio.h>

#include <malloc.h>

/* mallopt(3): 1 if the active backend took the parameter, else 0. */
int info_mallopt(int param, int value);

/* malloc_trim(3), of the active backend and of libc. */
int info_trim(size_t pad);

struct mallinfo2 info_mallinfo2(void);

/* As mallinfo2, saturating at INT_MAX instead of wrapping. */
struct mallinfo info_mallinfo(void);

/* malloc_stats(3): a few lines on stderr. */
void info_print_stats(void);

/* malloc_info(3): options must be 0, else EINVAL is returned. */
int info_write_xml(int options, FILE *stream);

#endif
