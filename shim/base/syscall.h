/* SPDX-License-Identifier: MIT */
/*
 * syscall.h - system calls without libc.
 *
 * The shim interposes mmap, munmap, syscall and friends, and other preloads
 * may interpose them in front of us; an allocator that called the public names
 * could re-enter itself or deadlock in somebody's wrapper. These calls cannot
 * be interposed, are no cancellation points and leave errno alone: the result
 * is the kernel's, negative errno on failure.
 *
 * Source: syscall(2), table "Architecture calling conventions".
 */
#ifndef AMUX_BASE_SYSCALL_H
#define AMUX_BASE_SYSCALL_H

#include <sys/syscall.h>

#include "compiler.h"

#if defined(__x86_64__)

AMUX_ALWAYS_INLINE long raw_syscall(
	long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile(
		"syscall"
		: "=a"(ret)
		: "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		: "rcx", "r11", "memory");
	return ret;
}

#elif defined(__aarch64__)

AMUX_ALWAYS_INLINE long raw_syscall(
	long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory", "cc");
	return x0;
}

#else
	#error "Allocmux knows the system call convention of x86-64 and aarch64 only"
#endif

#define sys0(nr)       raw_syscall(nr, 0, 0, 0, 0, 0, 0)
#define sys1(nr, a)    raw_syscall(nr, (long)(a), 0, 0, 0, 0, 0)
#define sys2(nr, a, b) raw_syscall(nr, (long)(a), (long)(b), 0, 0, 0, 0)
#define sys3(nr, a, b, c)                                                      \
	raw_syscall(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define sys4(nr, a, b, c, d)                                                   \
	raw_syscall(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define sys6(nr, a, b, c, d, e, f)                                             \
	raw_syscall(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), \
		(long)(f))

/* The kernel's error range: a result in it is -errno (see syscall(2)). */
static inline int sys_failed(long ret)
{
	return (unsigned long)ret >= (unsigned long)-4095L;
}

#endif
