/* SPDX-License-Identifier: MIT */
/*
 * image.h - the ELF files that are mapped into another process.
 *
 * Read from the files themselves, through /proc/PID/root, so that stripped
 * files, other mount name spaces and chroots make no difference.
 */
#ifndef AMUX_TOOLS_IMAGE_H
#define AMUX_TOOLS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct image {
	char *path; /* as the process sees it; owned */
	uintptr_t start, end;
	bool readable;        /* its symbols could be read */
	bool defines_malloc;  /* in its dynamic symbol table */
	bool symbols_known;   /* the two above have been found out */
	uintptr_t file_start; /* where its first byte is mapped */
};

struct images {
	pid_t pid;
	struct image *list; /* owned; in address order */
	size_t count;
};

/* False with errno set if the maps cannot be read. */
bool images_read(struct images *images, pid_t pid);
void images_free(struct images *images);

/* The image that addr is in, or NULL: memory of no file. */
struct image *images_at(const struct images *images, uintptr_t addr);

/* The first image whose base name begins so, or NULL. */
struct image *images_named(const struct images *images, const char *prefix);

const char *image_name(const struct image *image);

/* Find out whether it defines malloc. */
void image_study(const struct images *images, struct image *image);

/* One defined dynamic symbol, at its address in the process. */
typedef void image_symbol_fn(
	const char *name, uintptr_t addr, size_t size, void *arg);

/* Visit all. False if the file cannot be read, or is not what is mapped. */
bool image_symbols(const struct images *images, const struct image *image,
	image_symbol_fn *visit, void *arg);

/* The address of `name`; 0 if there is none. */
uintptr_t image_symbol(const struct images *images, const struct image *image,
	const char *name);

/* Opens the file of an image; -1 with errno set. */
int image_open(pid_t pid, const char *path);

#endif
