/* SPDX-License-Identifier: MIT */
/*
 * elffile.c - program headers read through libelf.
 *
 * See elf(5) and the gABI's chapter on program loading.
 */
#include "elffile.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

struct elf_facts {
	bool is_elf;
	bool has_interpreter; /* PT_INTERP */
	bool static_tls;      /* DF_STATIC_TLS */
	size_t tls_size;      /* of PT_TLS in memory */
};

static bool dynamic_has_static_tls(Elf *elf, const GElf_Phdr *header)
{
	Elf_Data *data = elf_getdata_rawchunk(
		elf, (int64_t)header->p_offset, header->p_filesz, ELF_T_DYN);
	GElf_Dyn entry;

	for (int i = 0; data != NULL && gelf_getdyn(data, i, &entry) != NULL;
		i++) {
		if (entry.d_tag == DT_FLAGS) {
			return (entry.d_un.d_val & DF_STATIC_TLS) != 0;
		}
	}
	return false;
}

static void facts_collect(Elf *elf, struct elf_facts *facts)
{
	GElf_Ehdr file;
	GElf_Phdr header;
	size_t count = 0;

	if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &file) == NULL ||
		elf_getphdrnum(elf, &count) != 0 ||
		(file.e_type != ET_EXEC && file.e_type != ET_DYN)) {
		return;
	}
	facts->is_elf = true;
	for (size_t i = 0; i < count; i++) {
		if (gelf_getphdr(elf, (int)i, &header) == NULL) {
			continue;
		}
		if (header.p_type == PT_INTERP) {
			facts->has_interpreter = true;
		} else if (header.p_type == PT_TLS) {
			facts->tls_size = header.p_memsz;
		} else if (header.p_type == PT_DYNAMIC) {
			facts->static_tls =
				dynamic_has_static_tls(elf, &header);
		}
	}
}

static struct elf_facts facts_read(const char *path)
{
	struct elf_facts facts = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf;

	if (fd < 0) {
		return facts;
	}
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf != NULL) {
		facts_collect(elf, &facts);
		elf_end(elf);
	}
	close(fd);
	return facts;
}

size_t elf_static_tls(const char *path)
{
	struct elf_facts facts = facts_read(path);

	return facts.static_tls ? facts.tls_size : 0;
}

bool elf_is_static(const char *path)
{
	struct elf_facts facts = facts_read(path);

	/* Static and static-PIE programs name no interpreter. */
	return facts.is_elf && !facts.has_interpreter;
}
