/* SPDX-License-Identifier: MIT */
/* Route: the allocator library is dlopen-ed into a running program (JNI/Python
 * extension). It must load, and when code bound to it frees, reallocs or
 * measures a block of libc's heap, nothing may break. Run by x08 driver without
 * preload: HZ_LIB names the library. class: B */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	const char *lib = getenv("HZ_LIB");
	if (!lib || !*lib) {
		return 0;
	}
	char *pre[50];
	for (int i = 0; i < 50; i++) {
		pre[i] = malloc(10 + i * 400);
		memset(pre[i], i, 10 + i * 400);
	}
	void *h = dlopen(lib, RTLD_NOW | RTLD_GLOBAL);
	if (!h) {
		dprintf(2, "load: %s\n", dlerror());
		_exit(3);
	}
	void (*f)(void *) = (void (*)(void *))dlsym(h, "free");
	void *(*r)(void *, size_t) =
		(void *(*)(void *, size_t))dlsym(h, "realloc");
	size_t (*u)(void *) = (size_t(*)(void *))dlsym(h, "malloc_usable_size");
	void *(*m)(size_t) = (void *(*)(size_t))dlsym(h, "malloc");
	CHECK(f && r && u && m);
	for (int i = 0; i < 50; i++) {
		CHECK(u(pre[i]) >= (size_t)(10 + i * 400));
		char *q = r(pre[i], 20 + i * 900);
		CHECK(q && q[0] == i && q[9 + i * 400] == i);
		f(q);
	}
	f(strdup("abc"));
	char *s = m(100);
	f(s);
	return 0;
}
