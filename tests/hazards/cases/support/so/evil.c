/* SPDX-License-Identifier: MIT */
/* A library that tells when it is loaded: nobody asked for it. It has a whole
 * malloc, so that only the rule keeps it out. */
#include <stddef.h>
#include <unistd.h>
static char heap[1 << 20] __attribute__((aligned(16)));
static size_t used;
__attribute__((constructor)) static void loaded(void)
{
	if (write(2, "evil was loaded\n", 16) < 0) {
		_exit(66);
	}
}
void *malloc(size_t n)
{
	void *p = heap + used;
	used += (n + 15) & ~(size_t)15;
	return used <= sizeof heap ? p : NULL;
}
void free(void *p)
{
	(void)p;
}
size_t malloc_usable_size(void *p)
{
	(void)p;
	return 0;
}
