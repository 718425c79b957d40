/* SPDX-License-Identifier: MIT */
/*
 * demangle_none.c - built instead of demangle.c where libiberty is missing.
 */
#include "demangle.h"

#include <stddef.h>
#include <string.h>

#include "tool.h"

char *demangle(const char *symbol)
{
	static bool said;

	if (!said && strncmp(symbol, "_Z", 2) == 0) {
		tool_error("note: names stay mangled, because this program was "
			   "built without libiberty; c++filt reads them");
		said = true;
	}
	return NULL;
}
