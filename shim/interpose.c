/* SPDX-License-Identifier: MIT */
/*
 * interpose.c - the malloc family as the program sees it.
 *
 * The rules of C, POSIX and glibc about arguments live here and nowhere else;
 * what passes them goes through the dispatch table. malloc and free have no
 * rule of their own: their contract is the backend's (backend.h), so that they
 * are one jump.
 *
 *     price in steady state: malloc, free: jmp *dispatch+N(%rip), a load and
 *     a jump, no branch. Held to by tests/lint/fastpath.sh.
 *
 * Sources: malloc(3), posix_memalign(3), malloc_usable_size(3), mallopt(3);
 * C23 7.24.3; glibc's manual, "Replacing malloc". The names are exported
 * without version, or nothing would be interposed. C++ operators are not
 * exported: libstdc++'s and libc++'s call malloc and free and keep new_handler,
 * bad_alloc and a program's own replacements right.
 */
#include <errno.h>
#include <stdlib.h>

#include <malloc.h>

#include <allocmux/control.h>

#include "base/bits.h"
#include "base/compiler.h"
#include "base/os.h"
#include "control.h"
#include "dispatch.h"
#include "info.h"
#include "lifecycle.h"
#include "takeover.h"
#include "trace/trace.h"

/* C23 and obsolete names that the headers of some C libraries lack. */
void free_sized(void *ptr, size_t size);
void free_aligned_sized(void *ptr, size_t align, size_t size);
void cfree(void *ptr);

static __attribute__((constructor)) void load_backend(void)
{
	lifecycle_load_pending();
	takeover_start();
	trace_start_late();
	control_start_if_asked();
}

AMUX_API int amux_control_start(void)
{
	takeover_resume();
	return control_start();
}

static __attribute__((destructor)) void finish_trace(void)
{
	trace_finish();
}

static void *out_of_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

AMUX_API void *malloc(size_t size)
{
	return dispatch.malloc(size);
}

AMUX_API void free(void *ptr)
{
	dispatch.free(ptr);
}

AMUX_API void *calloc(size_t count, size_t size)
{
	size_t bytes;

	if (unlikely(
		    mul_overflows(count, size, &bytes) || bytes > MAX_OBJECT)) {
		return out_of_memory();
	}
	return dispatch.calloc(count, size);
}

/*
 * realloc(NULL, n) is malloc(n); realloc(p, 0) frees and returns NULL, as
 * glibc documents (C23 leaves it undefined).
 */
static inline void *resize(void *ptr, size_t size)
{
	if (!ptr) {
		return dispatch.malloc(size);
	}
	if (unlikely(size - 1 >= MAX_OBJECT)) {
		if (size) {
			return out_of_memory();
		}
		dispatch.free(ptr);
		return NULL;
	}
	return dispatch.realloc(ptr, size);
}

AMUX_API void *realloc(void *ptr, size_t size)
{
	return resize(ptr, size);
}

/* Not by realloc: loaded late, that name would be libc's. */
AMUX_API void *reallocarray(void *ptr, size_t count, size_t size)
{
	size_t bytes;

	if (unlikely(mul_overflows(count, size, &bytes))) {
		return out_of_memory();
	}
	return resize(ptr, bytes);
}

/* align is a power of two here. */
static void *aligned(size_t align, size_t size)
{
	if (align < MALLOC_ALIGN) {
		align = MALLOC_ALIGN;
	}
	/* The sum that every allocator forms must not wrap. */
	if (unlikely(size > MAX_OBJECT || align > MAX_OBJECT - size)) {
		return out_of_memory();
	}
	return dispatch.memalign(align, size);
}

/*
 * glibc rounds an odd alignment up to a power of two in memalign, and refuses
 * it in aligned_alloc since 2.38. We do the former for both.
 */
static void *aligned_any(size_t align, size_t size)
{
	if (unlikely(!is_pow2(align))) {
		if (align > MAX_OBJECT / 2) {
			errno = EINVAL;
			return NULL;
		}
		align = (size_t)1 << log2_ceil(align ? align : 1);
	}
	return aligned(align, size);
}

AMUX_API void *memalign(size_t align, size_t size)
{
	return aligned_any(align, size);
}

/* Any size: C17 dropped the rule that it be a multiple of align (DR 460). */
AMUX_API void *aligned_alloc(size_t align, size_t size)
{
	return aligned_any(align, size);
}

AMUX_API int posix_memalign(void **out, size_t align, size_t size)
{
	int saved = errno;
	void *ptr;

	if (!is_pow2(align) || align % sizeof(void *)) {
		return EINVAL;
	}
	ptr = aligned(align, size);
	if (!ptr) {
		errno = saved; /* the result is the only channel */
		return ENOMEM;
	}
	*out = ptr;
	return 0;
}

AMUX_API void *valloc(size_t size)
{
	return aligned(os_page_size(), size);
}

AMUX_API void *pvalloc(size_t size)
{
	size_t page = os_page_size();

	if (unlikely(size > MAX_OBJECT - page)) {
		return out_of_memory();
	}
	return aligned(page, size ? round_up(size, page) : page);
}

AMUX_API size_t malloc_usable_size(void *ptr)
{
	return ptr ? dispatch.usable_size(ptr) : 0;
}

/* The size is a hint from the caller; a wrong one is not our undefined. */
AMUX_API void free_sized(void *ptr, size_t size)
{
	if (ptr) {
		dispatch.free_sized(ptr, size);
	}
}

/* Aligned blocks may come from another class than their size says. */
AMUX_API void free_aligned_sized(void *ptr, size_t align, size_t size)
{
	dispatch.free(ptr);
}

/* Gone from glibc's headers in 2.26, still in old programs. */
AMUX_API void cfree(void *ptr)
{
	dispatch.free(ptr);
}

AMUX_API int mallopt(int param, int value)
{
	return info_mallopt(param, value);
}

AMUX_API int malloc_trim(size_t pad)
{
	return info_trim(pad);
}

AMUX_API struct mallinfo2 mallinfo2(void)
{
	return info_mallinfo2();
}

AMUX_API struct mallinfo mallinfo(void)
{
	return info_mallinfo();
}

AMUX_API void malloc_stats(void)
{
	info_print_stats();
}

AMUX_API int malloc_info(int options, FILE *stream)
{
	return info_write_xml(options, stream);
}
