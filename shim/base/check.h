/* SPDX-License-Identifier: MIT */
/*
 * check.h - two kinds of assertion.
 *
 * AMUX_ASSERT(x): we have a proof of x. Checked in debug builds only.
 * AMUX_CHECK(x):  x depends on the caller or on memory that may be corrupt.
 *                 Always checked; the failure names the expression and aborts.
 */
#ifndef AMUX_BASE_CHECK_H
#define AMUX_BASE_CHECK_H

#include "compiler.h"

/* One line on stderr with file, line and expression; then abort. */
_Noreturn AMUX_COLD void check_failed(
	const char *file, int line, const char *expression);

#define AMUX_CHECK(x)                                                          \
	(likely(x) ? (void)0 : check_failed(__FILE__, __LINE__, #x))

#ifdef NDEBUG
	#define AMUX_ASSERT(x) ((void)sizeof(x))
#else
	#define AMUX_ASSERT(x) AMUX_CHECK(x)
#endif

#endif
