/* SPDX-License-Identifier: MIT */
/*
 * image.c - see image.h; the format of /proc/PID/maps is proc(5)'s.
 */
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

/* One line of maps; mappings of one file that follow each other are one. */
static void line_add(struct images *images, const char *line)
{
	uintptr_t start, end, offset;
	struct image *last;
	int at = 0;

	if (sscanf(line,
		    "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNxPTR " %*s %*s %n",
		    &start, &end, &offset, &at) != 3 ||
		line[at] != '/') {
		return;
	}
	last = images->count ? &images->list[images->count - 1] : NULL;
	if (last != NULL && offset != 0 && strcmp(last->path, line + at) == 0) {
		last->end = end;
		return;
	}
	images->list = tool_realloc(
		images->list, (images->count + 1) * sizeof(*images->list));
	images->list[images->count++] = (struct image){
		.path = tool_strdup(line + at),
		.start = start,
		.end = end,
		.file_start = start - offset,
	};
}

bool images_read(struct images *images, pid_t pid)
{
	char *path = tool_format("/proc/%d/maps", (int)pid);
	FILE *maps = fopen(path, "re");
	char line[PATH_MAX + 128];

	free(path);
	*images = (struct images){.pid = pid};
	if (maps == NULL) {
		return false;
	}
	while (fgets(line, sizeof(line), maps) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		line_add(images, line);
	}
	fclose(maps);
	return true;
}

void images_free(struct images *images)
{
	for (size_t i = 0; i < images->count; i++) {
		free(images->list[i].path);
	}
	free(images->list);
	images->list = NULL;
	images->count = 0;
}

struct image *images_at(const struct images *images, uintptr_t addr)
{
	for (size_t i = 0; i < images->count; i++) {
		struct image *image = &images->list[i];

		if (addr >= image->start && addr < image->end) {
			return image;
		}
	}
	return NULL;
}

const char *image_name(const struct image *image)
{
	return strrchr(image->path, '/') + 1;
}

struct image *images_named(const struct images *images, const char *prefix)
{
	for (size_t i = 0; i < images->count; i++) {
		struct image *image = &images->list[i];

		if (strncmp(image_name(image), prefix, strlen(prefix)) == 0) {
			return image;
		}
	}
	return NULL;
}

int image_open(pid_t pid, const char *path)
{
	char *whole = tool_format("/proc/%d/root%s", (int)pid, path);
	int fd = open(whole, O_RDONLY | O_CLOEXEC);

	free(whole);
	return fd;
}

/* Where the file's addresses count from in the process. */
static bool find_bias(Elf *elf, const struct image *image, uintptr_t *bias)
{
	GElf_Phdr header;
	size_t count = 0;

	if (elf_getphdrnum(elf, &count) != 0) {
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		if (gelf_getphdr(elf, (int)i, &header) != NULL &&
			header.p_type == PT_LOAD) {
			*bias = image->file_start + header.p_offset -
				header.p_vaddr;
			return true;
		}
	}
	return false;
}

static void section_visit(Elf_Scn *section, Elf *elf, uintptr_t bias,
	image_symbol_fn *visit, void *arg)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Shdr header;
	GElf_Sym symbol;

	if (data == NULL || gelf_getshdr(section, &header) == NULL) {
		return;
	}
	for (int i = 0; gelf_getsym(data, i, &symbol) != NULL; i++) {
		const char *name =
			elf_strptr(elf, header.sh_link, symbol.st_name);

		if (name != NULL && symbol.st_shndx != SHN_UNDEF &&
			GELF_ST_TYPE(symbol.st_info) == STT_FUNC) {
			visit(name, bias + symbol.st_value, symbol.st_size,
				arg);
		}
	}
}

static bool elf_visit(
	Elf *elf, const struct image *image, image_symbol_fn *visit, void *arg)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	uintptr_t bias;

	if (elf_kind(elf) != ELF_K_ELF || !find_bias(elf, image, &bias)) {
		return false;
	}
	while ((section = elf_nextscn(elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) != NULL &&
			header.sh_type == SHT_DYNSYM) {
			section_visit(section, elf, bias, visit, arg);
			return true;
		}
	}
	return false;
}

bool image_symbols(const struct images *images, const struct image *image,
	image_symbol_fn *visit, void *arg)
{
	int fd = image_open(images->pid, image->path);
	bool done = false;
	Elf *elf;

	if (fd < 0) {
		return false;
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf != NULL) {
		done = elf_visit(elf, image, visit, arg);
		elf_end(elf);
	}
	close(fd);
	return done;
}

struct wanted {
	const char *name;
	uintptr_t addr;
};

static void match(const char *name, uintptr_t addr, size_t size, void *arg)
{
	struct wanted *wanted = arg;

	if (strcmp(name, wanted->name) == 0) {
		wanted->addr = addr;
	}
}

uintptr_t image_symbol(const struct images *images, const struct image *image,
	const char *name)
{
	struct wanted wanted = {.name = name};

	image_symbols(images, image, match, &wanted);
	return wanted.addr;
}

void image_study(const struct images *images, struct image *image)
{
	struct wanted wanted = {.name = "malloc"};

	if (!image->symbols_known) {
		image->readable = image_symbols(images, image, match, &wanted);
		image->defines_malloc = wanted.addr != 0;
		image->symbols_known = true;
	}
}
