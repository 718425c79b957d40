/* SPDX-License-Identifier: MIT */
/*
 * badptr.c - see badptr.h.
 */
#include "badptr.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "base/atomic.h"
#include "base/bits.h"
#include "base/compiler.h"
#include "base/elfsym.h"
#include "base/log.h"
#include "base/os.h"
#include "config.h"

static struct {
	_Atomic uint64_t count; /* sync: atomic */
} g;

/*
 * Does code end, at addr, in a call instruction? Decided for x86-64, where it
 * tells return addresses from other pointers into code; elsewhere assumed.
 */
static bool follows_call(uintptr_t addr, const struct elf_object *module)
{
	enum { LONGEST_CALL = 7 };

	if (addr < module->code_start + LONGEST_CALL ||
		addr >= module->code_end) {
		return false;
	}
#if defined(__x86_64__)
	const unsigned char *code = (const unsigned char *)addr;

	/* call rel32, or a call through a register or memory (ff /2). */
	return code[-5] == 0xe8 || code[-2] == 0xff || code[-3] == 0xff ||
	       code[-6] == 0xff || code[-7] == 0xff;
#else
	return true;
#endif
}

/*
 * The nearest return address on the stack that lies outside this library:
 * where the program called us. Found by looking, since the frames between are
 * our own and small.
 */
static const void *call_site(struct elf_object *module)
{
	enum { WORDS = 512 };
	struct elf_object self;
	void *const *word = __builtin_frame_address(0);

	if (!elf_find_by_address((const void *)call_site, &self)) {
		return NULL;
	}
	for (int i = 0; i < WORDS; i++) {
		uintptr_t addr = (uintptr_t)word[i];

		if (addr < self.start || addr >= self.end) {
			if (elf_find_by_address((const void *)addr, module) &&
				follows_call(addr, module)) {
				return (const void *)addr;
			}
		}
	}
	return NULL;
}

void badptr_report(const char *call, const void *ptr, const char *what)
{
	struct elf_object module = {0};
	const void *site = call_site(&module);
	bool fatal = strcmp(config_string(OPTION_BAD_FREE), "warn") != 0;

	add_relaxed(&g.count, 1);
	log_line("%s(%p): %s; called from %p (%s+0x%lx)%s", call, ptr, what,
		site, module.name && *module.name ? module.name : "the program",
		(unsigned long)((uintptr_t)site - module.base),
		fatal ? "; aborting (ALLOC_BAD_FREE=warn runs on)"
		      : "; ignored");
	if (fatal) {
		os_abort();
	}
}

uint64_t badptr_count(void)
{
	return load_relaxed(&g.count);
}

/* Lock-free where glibc has it (2.35); elsewhere modules are not told apart. */
#pragma weak _dl_find_object

static bool in_module(const void *ptr)
{
	struct dl_find_object found;

	return _dl_find_object &&
	       _dl_find_object((void *)(uintptr_t)ptr, &found) == 0;
}

bool badptr_may_be_libc(const char *call, const void *ptr)
{
	uintptr_t addr = (uintptr_t)ptr;
	const char *what;

	if (addr % MALLOC_ALIGN) {
		what = "misaligned pointer, not from any allocator";
	} else if (addr >> ADDR_BITS) {
		what = "address beyond any allocator's";
	} else if (in_module(ptr)) {
		what = "pointer into a loaded module, not from any allocator";
	} else {
		return true;
	}
	badptr_report(call, ptr, what);
	return false;
}
