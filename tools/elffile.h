/* SPDX-License-Identifier: MIT */
/*
 * elffile.h - the few questions that the tool asks of an ELF file's program
 * headers.
 */
#ifndef AMUX_TOOLS_ELFFILE_H
#define AMUX_TOOLS_ELFFILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Bytes of thread-local storage that the library at `path` needs at a fixed
 * place (DF_STATIC_TLS); 0 if none, or if it is no readable ELF file.
 */
size_t elf_static_tls(const char *path);

/* Is `path` an executable that ld.so has no part in? */
bool elf_is_static(const char *path);

#endif
