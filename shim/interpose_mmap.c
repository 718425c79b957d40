/* SPDX-License-Identifier: MIT */
/*
 * interpose_mmap.c - mmap, munmap, mremap, sbrk, brk and syscall as the
 * program sees them.
 *
 * Calls from an external library's own code are placed in its window
 * (window.h). All others go to the kernel directly, never through dlsym, which
 * would deadlock inside a library's constructor; sbrk, brk and syscall go on
 * to libc's, which keeps state for them.
 * Sources: mmap(2), munmap(2), mremap(2), sbrk(2), syscall(2).
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/elfsym.h"
#include "base/os.h"
#include "base/syscall.h"
#include "dispatch.h"
#include "window.h"

static struct {
	bool started; /* sync: false only before threads exist */
	void *(*sbrk)(intptr_t);
	int (*brk)(void *);
	long (*syscall)(long, long, long, long, long, long, long);
} g; /* sync: set in start, then constant */

/* A library's constructor may map memory before anybody calls malloc. */
static AMUX_COLD void start(void)
{
	struct elf_object libc;

	lifecycle_start();
	if (elf_find_libc(&libc)) {
		g.sbrk = elf_symbol(&libc, "sbrk");
		g.brk = elf_symbol(&libc, "brk");
		g.syscall = elf_symbol(&libc, "syscall");
	}
	g.started = true;
}

AMUX_ALWAYS_INLINE unsigned owner_of_caller(const void *caller)
{
	if (unlikely(!g.started)) {
		start();
	}
	return window_caller(caller);
}

static long result(long ret)
{
	if (unlikely(sys_failed(ret))) {
		errno = (int)-ret;
		return -1;
	}
	return ret;
}

AMUX_API void *mmap(
	void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	unsigned id = owner_of_caller(__builtin_return_address(0));

	if (likely(!id)) {
		return (void *)result(
			sys6(SYS_mmap, addr, size, prot, flags, fd, offset));
	}
	return (void *)result(
		window_map(id, addr, size, prot, flags, fd, offset));
}

/* The same function: off_t has 64 bits here. */
AMUX_API void *mmap64(void *addr, size_t size, int prot, int flags, int fd,
	off64_t offset) __attribute__((alias("mmap")));

AMUX_API int munmap(void *addr, size_t size)
{
	unsigned id = owner_of_caller(__builtin_return_address(0));

	if (likely(!id)) {
		return (int)result(os_unmap(addr, size));
	}
	return (int)result(window_unmap(id, addr, size));
}

AMUX_API void *mremap(void *addr, size_t size, size_t new_size, int flags, ...)
{
	unsigned id = owner_of_caller(__builtin_return_address(0));
	void *new_addr = NULL;

	if (flags & MREMAP_FIXED) {
		va_list args;

		va_start(args, flags);
		new_addr = va_arg(args, void *);
		va_end(args);
	}
	if (likely(!id) || (flags & MREMAP_FIXED)) {
		return (void *)result(sys6(
			SYS_mremap, addr, size, new_size, flags, new_addr, 0));
	}
	return (void *)result(window_remap(id, addr, size, new_size, flags));
}

AMUX_API void *sbrk(intptr_t increment)
{
	if (owner_of_caller(__builtin_return_address(0)) || !g.sbrk) {
		errno = ENOMEM;
		return (void *)-1;
	}
	return g.sbrk(increment);
}

AMUX_API int brk(void *addr)
{
	if (owner_of_caller(__builtin_return_address(0)) || !g.brk) {
		errno = ENOMEM;
		return -1;
	}
	return g.brk(addr);
}

/*
 * Declared with the six arguments every system call can have; the call to
 * libc's is a jump, so that what returns twice returns to the caller.
 */
AMUX_API long interposed_syscall(long nr, long a, long b, long c, long d,
	long e, long f) __asm__("syscall");

long interposed_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	unsigned id = owner_of_caller(__builtin_return_address(0));

	if (unlikely(id)) {
		switch (nr) {
		case SYS_mmap:
			return result(window_map(id, (void *)a, (size_t)b,
				(int)c, (int)d, (int)e, f));
		case SYS_munmap:
			return result(window_unmap(id, (void *)a, (size_t)b));
		case SYS_mremap:
			if (!(d & MREMAP_FIXED)) {
				return result(window_remap(id, (void *)a,
					(size_t)b, (size_t)c, (int)d));
			}
			break;
		case SYS_brk:
			return (long)sys1(SYS_brk, 0);
		default:
			break;
		}
	}
	if (unlikely(!g.syscall)) {
		return result(raw_syscall(nr, a, b, c, d, e, f));
	}
	return g.syscall(nr, a, b, c, d, e, f);
}
