/* SPDX-License-Identifier: MIT */
/* Route: the allocator library is dlopen-ed into a running program, and code
 * that is bound to it hands its blocks to the host, which frees, reallocates
 * and measures them with what it was bound to at start: libc's functions. Run
 * by its driver without preload: HZ_LIB names the library. class: B */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	char *pre = malloc(100);
	memset(pre, 'p', 100);
	void *h = dlopen(getenv("HZ_LIB"), RTLD_NOW | RTLD_GLOBAL);
	if (!h) {
		dprintf(2, "load: %s\n", dlerror());
		_exit(3);
	}
	void *(*m)(size_t) = (void *(*)(size_t))dlsym(h, "malloc");
	void *(*c)(size_t, size_t) =
		(void *(*)(size_t, size_t))dlsym(h, "calloc");
	void *(*a)(size_t, size_t) =
		(void *(*)(size_t, size_t))dlsym(h, "memalign");
	CHECK(m && c && a);
	for (int i = 0; i < 200; i++) {
		size_t n = 10 + i * 400;
		unsigned char *p = m(n);
		CHECK(p);
		memset(p, i, n);
		CHECK(malloc_usable_size(p) >= n);
		p = realloc(p, n * 2);
		CHECK(p && p[0] == (unsigned char)i &&
			p[n - 1] == (unsigned char)i);
		free(p);
		free(c(3, n));
		free(a(4096, n));
	}
	pre = realloc(pre, 5000);
	CHECK(pre && pre[99] == 'p');
	free(pre);
	return 0;
}
