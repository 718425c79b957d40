/* SPDX-License-Identifier: MIT */
/*
 * os.h - memory, files and identity, asked of the kernel directly.
 *
 * Contract of every function here: async-signal-safe, never allocates, never
 * changes errno, returns 0 or a count on success and -errno on failure.
 * Addresses handed out lie below 47 bits (no hints above, so the kernel's
 * default; mmap(2), "5-level paging").
 */
#ifndef AMUX_BASE_OS_H
#define AMUX_BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Page size in bytes, from the auxiliary vector; 4 to 64 KiB. */
size_t os_page_size(void);

/*
 * Reserve address space: inaccessible, not charged to overcommit, no pages.
 * hint may be NULL; the range may lie elsewhere. *addr is set on success.
 */
int os_reserve(void *hint, size_t size, void **addr);

/* As os_reserve(), with *addr a multiple of align (a power of two >= page). */
int os_reserve_aligned(size_t size, size_t align, void **addr);

/* Map fresh zeroed read-write memory anywhere; *addr is set on success. */
int os_map(size_t size, void **addr);

/* Make reserved pages usable; they read as zero if never used before. */
int os_commit(void *addr, size_t size);

/* Give the pages back at once (MADV_DONTNEED): they read as zero after. */
int os_purge(void *addr, size_t size);

/* Back to the state of os_reserve(): pages gone, inaccessible, uncharged. */
int os_decommit(void *addr, size_t size);

int os_unmap(void *addr, size_t size);
int os_advise(void *addr, size_t size, int advice);

/*
 * Move size bytes of anonymous pages to `to`, which is mapped, without copying
 * (mremap, MREMAP_DONTUNMAP; kernel 5.7). The old range stays mapped and reads
 * as zero: at no moment is there a hole that another thread's mmap could fall
 * into. -EINVAL on older kernels: then copy.
 */
int os_move(void *from, size_t size, void *to);

/* Fresh zeroed read-write pages in place of what is mapped there. */
int os_map_at(void *addr, size_t size);

/* The first line of a small file; the length, or -errno. No descriptor stays.
 */
long os_read_file(const char *path, char *buf, size_t size);

bool os_file_is_readable(const char *path);

/* Write everything, through EINTR and short writes; errors are dropped. */
void os_write_all(int fd, const char *buf, size_t len);

int os_gettid(void);
int os_getpid(void);

/* The CPU we ran on a moment ago; getcpu(2). 0 if the kernel will not say. */
unsigned os_cpu(void);

/* CPUs that may ever appear: one more than the highest possible id, >= 1. */
unsigned os_cpu_limit(void);

/* Monotonic milliseconds at timer-tick precision, by vDSO (about 3 ns). */
uint64_t os_now_ms(void);

/* Bytes of memory of the machine; sysinfo(2). */
size_t os_memory_size(void);

/* Soft limit on address space in bytes (RLIMIT_AS), SIZE_MAX if none. */
size_t os_address_limit(void);

/* Sleep until *word changes from value or a wake arrives; futex(2). */
void os_futex_wait(const void *word, uint32_t value);
void os_futex_wake(const void *word, int count);

/* 8 random bytes from the kernel's start-up pool (AT_RANDOM); no syscall. */
uint64_t os_random_seed(void);

_Noreturn void os_abort(void);

#endif
