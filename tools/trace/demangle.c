/* SPDX-License-Identifier: MIT */
/*
 * demangle.c - libiberty's demangler, which knows C++ (Itanium ABI) and both of
 * Rust's schemes.
 */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <stddef.h>
#include <string.h>

char *demangle(const char *symbol)
{
	if (strncmp(symbol, "_Z", 2) != 0 && strncmp(symbol, "_R", 2) != 0 &&
		strncmp(symbol, "___Z", 4) != 0) {
		return NULL;
	}
	return cplus_demangle(
		symbol, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO | DMGL_RET_DROP);
}
