/* SPDX-License-Identifier: MIT */
/*
 * unit.h - cmocka with the headers it wants, in the order it wants them.
 */
#ifndef AMUX_TESTS_UNIT_H
#define AMUX_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
