/* SPDX-License-Identifier: MIT */
/*
 * safety.c - see safety.h.
 *
 * Static functions of libc's malloc have no dynamic symbols. They lie in one
 * object file with the public ones, so the range is taken from the end of the
 * symbol before the lowest of them to the end of the highest.
 * Unwinding is elfutils' libdwfl's.
 */
#include "safety.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "tool.h"

static const char *const malloc_family[] = {"malloc", "free", "calloc",
	"realloc", "memalign", "valloc", "pvalloc", "posix_memalign",
	"aligned_alloc", "malloc_trim", "malloc_usable_size", "mallinfo",
	"mallinfo2", "malloc_stats", "malloc_info", "mallopt",
	"__default_morecore"};

/* What else holds locks that loading a library needs, or is half done. */
static const char *const no_go[] = {"dlopen", "dlmopen", "dlclose", "dlsym",
	"dlvsym", "dladdr", "dladdr1", "dlinfo", "dl_iterate_phdr", "fork",
	"_Fork", "vfork", "pthread_create", "posix_spawn"};

static bool is_in(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(name, list[i]) == 0) {
			return true;
		}
	}
	return false;
}

#define IS_IN(name, list) is_in(name, list, sizeof(list) / sizeof(list[0]))

static void learn(const char *name, uintptr_t addr, size_t size, void *arg)
{
	struct safety *safety = arg;
	struct code_range *allocator = &safety->libc_ranges[0];

	if (IS_IN(name, malloc_family)) {
		if (addr < allocator->start) {
			allocator->start = addr;
		}
		if (addr + size > allocator->end) {
			allocator->end = addr + size;
		}
	} else if (IS_IN(name, no_go) && safety->range_count < SAFETY_RANGES) {
		safety->libc_ranges[safety->range_count++] =
			(struct code_range){addr, addr + size};
	}
}

struct before {
	uintptr_t limit; /* symbols that start below */
	uintptr_t end;   /* the highest end among them */
};

static void find_before(
	const char *name, uintptr_t addr, size_t size, void *arg)
{
	struct before *before = arg;

	if (addr < before->limit && addr + size <= before->limit &&
		addr + size > before->end) {
		before->end = addr + size;
	}
}

bool safety_init(struct safety *safety, const struct images *images,
	const struct image *libc)
{
	struct code_range *allocator = &safety->libc_ranges[0];
	struct before before = {0};

	*safety = (struct safety){.images = images, .range_count = 1};
	allocator->start = UINTPTR_MAX;
	if (!image_symbols(images, libc, learn, safety) ||
		allocator->end == 0) {
		return false;
	}
	before.limit = allocator->start;
	image_symbols(images, libc, find_before, &before);
	allocator->start = before.end;
	return true;
}

/* Names of the loader: ld-linux-x86-64.so.2, ld-linux-aarch64.so.1, ld-2.31.so
 */
static bool is_loader(const struct image *image)
{
	return strncmp(image_name(image), "ld-", 3) == 0;
}

/* May a frame be here? */
static bool address_is_safe(const struct safety *safety, uintptr_t addr)
{
	struct image *image = images_at(safety->images, addr);

	if (image == NULL) {
		return true; /* the kernel's vDSO, or made at run time */
	}
	for (int i = 0; i < safety->range_count; i++) {
		if (addr >= safety->libc_ranges[i].start &&
			addr < safety->libc_ranges[i].end) {
			return false;
		}
	}
	if (is_loader(image)) {
		return false;
	}
	if (strncmp(image_name(image), "libc.so", 7) == 0 ||
		strncmp(image_name(image), "libc-2", 6) == 0) {
		return true; /* its allocator has been looked at above */
	}
	image_study(safety->images, image);
	return image->readable && !image->defines_malloc;
}

struct walk {
	const struct safety *safety;
	uintptr_t last;
	int frames;
	bool unsafe;
};

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct walk *walk = arg;
	bool is_activation;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, &is_activation)) {
		walk->unsafe = true;
		return DWARF_CB_ABORT;
	}
	/* A return address may be the first byte of the next function. */
	walk->last = pc - !is_activation;
	walk->frames++;
	if (!address_is_safe(walk->safety, walk->last)) {
		walk->unsafe = true;
		return DWARF_CB_ABORT;
	}
	return DWARF_CB_OK;
}

/* The file as the process sees it; the vDSO and the like go libdwfl's way. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name,
	Dwarf_Addr base, char **file_name, Elf **elf)
{
	Dwfl *dwfl = *userdata;
	int fd;

	if (name == NULL || name[0] != '/') {
		return dwfl_linux_proc_find_elf(
			module, userdata, name, base, file_name, elf);
	}
	fd = image_open(dwfl_pid(dwfl), name);
	if (fd >= 0) {
		*file_name = tool_strdup(name);
	}
	return fd;
}

/* Unwind tables are in the files themselves; nothing is searched elsewhere. */
static int find_debuginfo(Dwfl_Module *module, void **userdata,
	const char *name, Dwarf_Addr base, const char *file_name,
	const char *link_name, GElf_Word crc, char **debug_name)
{
	return -1;
}

static int give_dwfl(Dwfl_Module *module, void **userdata, const char *name,
	Dwarf_Addr base, void *arg)
{
	*userdata = arg;
	return DWARF_CB_OK;
}

/* The whole stack: 0 at its end, otherwise why not. */
static int unwind(const struct tracee *tracee, struct walk *walk)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = find_elf, .find_debuginfo = find_debuginfo};
	Dwfl *dwfl = dwfl_begin(&callbacks);
	int status = -1;

	if (dwfl == NULL) {
		return -1;
	}
	if (dwfl_linux_proc_report(dwfl, tracee->pid) == 0 &&
		dwfl_report_end(dwfl, NULL, NULL) == 0 &&
		dwfl_getmodules(dwfl, give_dwfl, dwfl, 0) == 0 &&
		dwfl_linux_proc_attach(dwfl, tracee->pid, true) == 0) {
		status = dwfl_getthread_frames(
			dwfl, tracee->tid, on_frame, walk);
	}
	dwfl_end(dwfl);
	return status;
}

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
	#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif

/*
 * Inside a restartable sequence? To be taken out of it and put back would
 * skip the restart. Layouts: <linux/rseq.h>, <linux/ptrace.h>.
 */
static bool in_rseq(const struct tracee *tracee, uintptr_t pc)
{
	struct {
		uint64_t area;
		uint32_t size, signature, flags, pad;
	} configuration = {0};
	struct {
		uint32_t version, flags;
		uint64_t start, length, abort;
	} section;
	uint64_t pointer = 0;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tracee->tid,
		    sizeof(configuration), &configuration) < 0 ||
		configuration.area == 0) {
		return false;
	}
	return tracee_read(tracee, configuration.area + 8, &pointer,
		       sizeof(pointer)) &&
	       pointer != 0 &&
	       tracee_read(tracee, pointer, &section, sizeof(section)) &&
	       pc - section.start < section.length;
}

bool safety_in_syscall(const struct tracee *tracee)
{
	struct regs_general regs;
	unsigned char code[8];

	return regs_read_general(tracee->tid, &regs) &&
	       tracee_read(tracee, regs_pc(&regs) - 4, code, sizeof(code)) &&
	       regs_in_syscall(&regs, code);
}

bool safety_is_safe(struct safety *safety, const struct tracee *tracee)
{
	/* At its very start or end a thread has no frames but libc's. */
	enum { FEWEST_FRAMES = 3 };
	struct walk walk = {.safety = safety};
	struct regs_general regs;
	int status;

	if (!regs_read_general(tracee->tid, &regs) ||
		in_rseq(tracee, regs_pc(&regs))) {
		return false;
	}
	status = unwind(tracee, &walk);
	if (walk.unsafe || walk.frames == 0) {
		return false;
	}
	if (status != 0) {
		return images_at(safety->images, walk.last) == NULL;
	}
	return walk.frames >= FEWEST_FRAMES;
}
