/* SPDX-License-Identifier: MIT */
/*
 * owner_model.h - the owner map beside the simplest thing that could be right.
 *
 * A sequence of bytes drives registrations and removals over a small part of
 * the address space; after each step every page of that part is compared with
 * a plain array. Used by the property test (random bytes) and the fuzzer.
 */
#ifndef AMUX_TESTS_OWNER_MODEL_H
#define AMUX_TESTS_OWNER_MODEL_H

#include <stddef.h>
#include <stdint.h>

/* Returns 0, or the number of the first step after which the two differed. */
int owner_model_run(const uint8_t *bytes, size_t count);

#endif
