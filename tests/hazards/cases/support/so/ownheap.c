/* SPDX-License-Identifier: MIT */
/* HZ_LINK: -Wl,-Bsymbolic */
#include <stddef.h>
#include <string.h>
/* a plugin that carries its own static allocator (as with a static libc or a
 * vendored malloc), bound to itself */
static char heap[1 << 20] __attribute__((aligned(64)));
static size_t used;
__attribute__((visibility("hidden"))) void *own_malloc(size_t n)
{
	n = (n + 79) & ~(size_t)63;
	if (used + n > sizeof heap) {
		return 0;
	}
	char *p = heap + used + 16;
	used += n;
	((size_t *)p)[-1] = n;
	return p;
}
char *oh_dup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = own_malloc(n);
	if (p) {
		memcpy(p, s, n);
	}
	return p;
}
