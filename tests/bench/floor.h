/* SPDX-License-Identifier: MIT */
/*
 * floor.h - malloc and free at the least possible cost, for comparison.
 * floor_malloc serves sizes of 1 to FLOOR_SIZE_MAX bytes, else returns NULL.
 */
#ifndef AMUX_TESTS_BENCH_FLOOR_H
#define AMUX_TESTS_BENCH_FLOOR_H

#include <stddef.h>

#define FLOOR_SIZE_MAX 4096

void *floor_malloc(size_t size);
void floor_free(void *ptr);

#endif
