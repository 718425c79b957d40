/* SPDX-License-Identifier: MIT */
/*
 * demangle.h - names of C++ and Rust functions as their authors wrote them.
 */
#ifndef AMUX_TOOLS_DEMANGLE_H
#define AMUX_TOOLS_DEMANGLE_H

/* The readable form of a symbol, to be freed; NULL: it is not mangled. */
char *demangle(const char *symbol);

#endif
