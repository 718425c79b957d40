/* SPDX-License-Identifier: MIT */
/*
 * os.c - the kernel's memory calls, /sys and the auxiliary vector.
 *
 * Everything goes through raw_syscall(): see syscall.h for why. The exceptions
 * are getauxval(3) and clock_gettime(3), which neither allocate nor are
 * interposed by anybody, and save a system call.
 */
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <time.h>

#include "bits.h"
#include "syscall.h"

size_t os_page_size(void)
{
	return getauxval(AT_PAGESZ);
}

static int map(void *hint, size_t size, int prot, int flags, void **addr)
{
	long ret = sys6(SYS_mmap, hint, size, prot,
		MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (sys_failed(ret)) {
		return (int)ret;
	}
	*addr = (void *)ret;
	return 0;
}

int os_reserve(void *hint, size_t size, void **addr)
{
	return map(hint, size, PROT_NONE, MAP_NORESERVE, addr);
}

int os_reserve_aligned(size_t size, size_t align, void **addr)
{
	size_t padded;
	void *base;
	int err;

	if (add_overflows(size, align, &padded)) {
		return -ENOMEM;
	}
	err = os_reserve(NULL, padded, &base);
	if (err) {
		return err;
	}

	char *start = (char *)round_up((size_t)base, align);
	size_t head = (size_t)(start - (char *)base);
	size_t tail = padded - size - head;

	if (head) {
		os_unmap(base, head);
	}
	if (tail) {
		os_unmap(start + size, tail);
	}
	*addr = start;
	return 0;
}

int os_map(size_t size, void **addr)
{
	return map(NULL, size, PROT_READ | PROT_WRITE, 0, addr);
}

int os_commit(void *addr, size_t size)
{
	return (int)sys3(SYS_mprotect, addr, size, PROT_READ | PROT_WRITE);
}

int os_purge(void *addr, size_t size)
{
	return os_advise(addr, size, MADV_DONTNEED);
}

int os_decommit(void *addr, size_t size)
{
	/* A new mapping, since mprotect alone would keep the commit charge. */
	return map(addr, size, PROT_NONE, MAP_NORESERVE | MAP_FIXED, &addr);
}

int os_unmap(void *addr, size_t size)
{
	return (int)sys2(SYS_munmap, addr, size);
}

int os_advise(void *addr, size_t size, int advice)
{
	return (int)sys3(SYS_madvise, addr, size, advice);
}

int os_move(void *from, size_t size, void *to)
{
	enum { DONTUNMAP = 4 }; /* MREMAP_DONTUNMAP, absent in older headers */
	long ret = sys6(SYS_mremap, from, size, size,
		MREMAP_MAYMOVE | MREMAP_FIXED | DONTUNMAP, to, 0);

	return sys_failed(ret) ? (int)ret : 0;
}

int os_map_at(void *addr, size_t size)
{
	/* The flags of os_reserve(), so that mappings merge again. */
	return map(addr, size, PROT_READ | PROT_WRITE,
		MAP_NORESERVE | MAP_FIXED, &addr);
}

long os_read_file(const char *path, char *buf, size_t size)
{
	long fd = sys4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	long len;

	if (sys_failed(fd)) {
		return fd;
	}
	do {
		len = sys3(SYS_read, fd, buf, size - 1);
	} while (len == -EINTR);
	sys1(SYS_close, fd);
	buf[len > 0 ? len : 0] = '\0';
	return len;
}

bool os_file_is_readable(const char *path)
{
	enum { READ = 4 }; /* R_OK */

	return sys3(SYS_faccessat, AT_FDCWD, path, READ) == 0;
}

void os_write_all(int fd, const char *buf, size_t len)
{
	while (len) {
		long n = sys3(SYS_write, fd, buf, len);

		if (n == -EINTR) {
			continue;
		}
		if (n <= 0) {
			return;
		}
		buf += n;
		len -= (size_t)n;
	}
}

int os_gettid(void)
{
	return (int)sys0(SYS_gettid);
}

int os_getpid(void)
{
	return (int)sys0(SYS_getpid);
}

unsigned os_cpu(void)
{
	unsigned cpu = 0;

	sys3(SYS_getcpu, &cpu, NULL, NULL);
	return cpu;
}

/* The last number of a list such as "0-3,8-11"; -1 if there is none. */
static long last_number(const char *list)
{
	long last = -1;

	for (const char *s = list; *s; s++) {
		if (*s < '0' || *s > '9') {
			continue;
		}
		for (last = 0; *s >= '0' && *s <= '9'; s++) {
			last = last * 10 + (*s - '0');
		}
		s--;
	}
	return last;
}

unsigned os_cpu_limit(void)
{
	enum { MAX_CPUS = 1 << 16 };
	unsigned long mask[1024 / (8 * sizeof(unsigned long))];
	char list[256];
	long highest = -1;

	/* All that hot-plug may bring; sysfs(5), cpu/possible. */
	if (os_read_file("/sys/devices/system/cpu/possible", list,
		    sizeof(list)) > 0) {
		highest = last_number(list);
	}
	if (highest >= 0 && highest < MAX_CPUS) {
		return (unsigned)highest + 1;
	}
	/* No sysfs (chroot): the mask's length in bytes bounds the ids. */
	memset(mask, 0, sizeof(mask));
	long bytes = sys3(SYS_sched_getaffinity, 0, sizeof(mask), mask);

	return bytes > 0 ? (unsigned)bytes * 8 : 1;
}

uint64_t os_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

size_t os_memory_size(void)
{
	struct sysinfo info;

	if (sys1(SYS_sysinfo, &info) != 0) {
		return (size_t)1 << 32;
	}
	return info.totalram * info.mem_unit;
}

size_t os_address_limit(void)
{
	struct {
		uint64_t soft, hard;
	} limit;

	if (sys4(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit) != 0) {
		return SIZE_MAX;
	}
	return limit.soft;
}

void os_futex_wait(const void *word, uint32_t value)
{
	sys4(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL);
}

void os_futex_wake(const void *word, int count)
{
	sys3(SYS_futex, word, FUTEX_WAKE_PRIVATE, count);
}

uint64_t os_random_seed(void)
{
	const void *pool = (const void *)getauxval(AT_RANDOM);
	uint64_t seed = 0;

	if (pool) {
		memcpy(&seed, pool, sizeof(seed));
	}
	return seed;
}

void os_abort(void)
{
	abort();
}
