/* SPDX-License-Identifier: MIT */
/*
 * debugfile.c - find ELF files and separate debug information.
 *
 * The places are those of GDB's manual, "Debugging Information in Separate
 * Files". A file whose build-id differs from the trace's is never used.
 * libdebuginfod is loaded only when it is wanted, because it brings libcurl.
 */
#include "debugfile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tool.h"

#define DEBUG_ROOT "/usr/lib/debug"

static Elf *elf_open(const char *path, int *fd)
{
	Elf *elf;

	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0) {
		return NULL;
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(*fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (elf != NULL && elf_kind(elf) == ELF_K_ELF) {
		return elf;
	}
	elf_end(elf);
	close(*fd);
	*fd = -1;
	return NULL;
}

static void elf_shut(Elf *elf, int fd)
{
	if (elf != NULL) {
		elf_end(elf);
		close(fd);
	}
}

/* The section with this name, or NULL. */
static Elf_Scn *section_find(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0) {
		return NULL;
	}
	while ((section = elf_nextscn(elf, section)) != NULL) {
		const char *found;

		if (gelf_getshdr(section, &header) == NULL) {
			continue;
		}
		found = elf_strptr(elf, names, header.sh_name);
		if (found != NULL && strcmp(found, name) == 0 &&
			header.sh_type != SHT_NOBITS) {
			return section;
		}
	}
	return NULL;
}

static bool has_debug_info(Elf *elf)
{
	return section_find(elf, ".debug_info") != NULL ||
	       section_find(elf, ".zdebug_info") != NULL;
}

static bool has_symbols(Elf *elf)
{
	return section_find(elf, ".symtab") != NULL ||
	       section_find(elf, ".dynsym") != NULL;
}

/* The build-id note's bytes, or NULL. */
static const uint8_t *build_id_find(Elf_Data *data, size_t *length)
{
	size_t at = 0;
	size_t name;
	size_t desc;
	GElf_Nhdr note;

	while (data != NULL &&
		(at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			memcmp((char *)data->d_buf + name, "GNU", 4) == 0) {
			*length = note.n_descsz;
			return (uint8_t *)data->d_buf + desc;
		}
	}
	return NULL;
}

/* Is this the file that the trace means? Without a build-id: believe it. */
static bool build_id_fits(Elf *elf, const struct trace_object *object)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (object->build_id_length == 0) {
		return true;
	}
	while ((section = elf_nextscn(elf, section)) != NULL) {
		const uint8_t *id;
		size_t length;

		if (gelf_getshdr(section, &header) == NULL ||
			header.sh_type != SHT_NOTE) {
			continue;
		}
		id = build_id_find(elf_getdata(section, NULL), &length);
		if (id != NULL) {
			return length == object->build_id_length &&
			       memcmp(id, object->build_id, length) == 0;
		}
	}
	return false;
}

static bool crc_fits(int fd, uint32_t want)
{
	uint8_t bytes[65536];
	uLong crc = crc32(0, NULL, 0);
	ssize_t n;

	for (off_t at = 0; (n = pread(fd, bytes, sizeof(bytes), at)) > 0;
		at += n) {
		crc = crc32(crc, bytes, (uInt)n);
	}
	return crc == want;
}

/* Take `path` as the separate debug file, if it is the right one. */
static bool debug_try(struct debugfile *file, const char *path,
	const struct trace_object *object, const uint32_t *crc)
{
	int fd;
	Elf *elf = elf_open(path, &fd);

	if (elf == NULL) {
		return false;
	}
	if (build_id_fits(elf, object) && has_debug_info(elf) &&
		(crc == NULL || object->build_id_length > 0 ||
			crc_fits(fd, *crc))) {
		file->debug = elf;
		file->debug_fd = fd;
		file->debug_path = tool_strdup(path);
		return true;
	}
	elf_shut(elf, fd);
	return false;
}

/* Call try for each root of debug files until one returns true. */
static bool roots_try(struct debugfile *file, const struct trace_object *object,
	const char *below, const uint32_t *crc)
{
	const char *list = getenv("ALLOCMUX_DEBUG_PATH");
	char path[PATH_MAX];

	while (list != NULL && *list != '\0') {
		int length = (int)strcspn(list, ":");
		int n = snprintf(
			path, sizeof(path), "%.*s/%s", length, list, below);

		if (length > 0 && n < (int)sizeof(path) &&
			debug_try(file, path, object, crc)) {
			return true;
		}
		list += length + (list[length] == ':');
	}
	return snprintf(path, sizeof(path), DEBUG_ROOT "/%s", below) <
		       (int)sizeof(path) &&
	       debug_try(file, path, object, crc);
}

static bool by_build_id(
	struct debugfile *file, const struct trace_object *object)
{
	char below[2 * BUILD_ID_MAX + 32];
	int at;

	if (object->build_id_length < 2) {
		return false;
	}
	at = snprintf(
		below, sizeof(below), ".build-id/%02x/", object->build_id[0]);
	for (uint32_t i = 1; i < object->build_id_length; i++) {
		at += snprintf(below + at, sizeof(below) - (size_t)at, "%02x",
			object->build_id[i]);
	}
	snprintf(below + at, sizeof(below) - (size_t)at, ".debug");
	return roots_try(file, object, below, NULL);
}

static bool by_debuglink(
	struct debugfile *file, const struct trace_object *object)
{
	Elf_Scn *section = section_find(file->main, ".gnu_debuglink");
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	const char *slash = strrchr(object->path, '/');
	int directory = slash != NULL ? (int)(slash - object->path) : 0;
	const char *name;
	uint32_t crc;
	char path[PATH_MAX];

	if (data == NULL || data->d_size < 8 ||
		memchr(data->d_buf, 0, data->d_size - 4) == NULL) {
		return false;
	}
	name = data->d_buf;
	memcpy(&crc, (char *)data->d_buf + data->d_size - 4, sizeof(crc));
	snprintf(path, sizeof(path), "%.*s/%s", directory, object->path, name);
	if (strcmp(path, object->path) != 0 &&
		debug_try(file, path, object, &crc)) {
		return true;
	}
	snprintf(path, sizeof(path), "%.*s/.debug/%s", directory, object->path,
		name);
	if (debug_try(file, path, object, &crc)) {
		return true;
	}
	snprintf(path, sizeof(path), "%.*s/%s", directory, object->path, name);
	return roots_try(file, object, path + (path[0] == '/'), &crc);
}

/* The few functions of <elfutils/debuginfod.h> that are needed. */
struct debuginfod {
	void *(*begin)(void);
	void (*end)(void *client);
	int (*find_debuginfo)(
		void *client, const unsigned char *id, int length, char **path);
};

static bool debuginfod_load(struct debuginfod *api)
{
	static bool said;
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		if (!said) {
			tool_error("DEBUGINFOD_URLS is set, but: %s; install "
				   "libdebuginfod to use it",
				dlerror());
			said = true;
		}
		return false;
	}
	api->begin = (void *(*)(void))dlsym(library, "debuginfod_begin");
	api->end = (void (*)(void *))dlsym(library, "debuginfod_end");
	api->find_debuginfo = (int (*)(void *, const unsigned char *, int,
		char **))dlsym(library, "debuginfod_find_debuginfo");
	return api->begin != NULL && api->end != NULL &&
	       api->find_debuginfo != NULL;
}

static bool by_debuginfod(
	struct debugfile *file, const struct trace_object *object)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct debuginfod api;
	void *client;
	char *path = NULL;
	int fd;
	bool found = false;

	if (urls == NULL || *urls == '\0' || object->build_id_length == 0 ||
		!debuginfod_load(&api) || (client = api.begin()) == NULL) {
		return false;
	}
	fd = api.find_debuginfo(
		client, object->build_id, (int)object->build_id_length, &path);
	if (fd >= 0) {
		close(fd);
		found = debug_try(file, path, object, NULL);
	}
	free(path);
	api.end(client);
	return found;
}

void debugfile_open(struct debugfile *file, const struct trace_object *object)
{
	bool changed = false;

	memset(file, 0, sizeof(*file));
	file->main_fd = -1;
	file->debug_fd = -1;
	if (object->path[0] != '/') {
		file->status = DEBUG_VIRTUAL;
		return;
	}
	file->main = elf_open(object->path, &file->main_fd);
	if (file->main != NULL && !build_id_fits(file->main, object)) {
		changed = true;
		elf_shut(file->main, file->main_fd);
		file->main = NULL;
	}
	if (file->main != NULL && has_debug_info(file->main)) {
		file->debug = file->main;
		file->debug_fd = file->main_fd;
	} else if (!by_build_id(file, object) &&
		   (file->main == NULL || !by_debuglink(file, object))) {
		by_debuginfod(file, object);
	}
	if (file->debug != NULL) {
		file->status = DEBUG_FULL;
	} else if (file->main != NULL) {
		file->status =
			has_symbols(file->main) ? DEBUG_SYMBOLS : DEBUG_NONE;
	} else {
		file->status = changed ? DEBUG_CHANGED : DEBUG_MISSING;
	}
}

void debugfile_close(struct debugfile *file)
{
	if (file->debug != file->main) {
		elf_shut(file->debug, file->debug_fd);
	}
	elf_shut(file->main, file->main_fd);
	free(file->debug_path);
	memset(file, 0, sizeof(*file));
}
