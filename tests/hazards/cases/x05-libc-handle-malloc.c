/* SPDX-License-Identifier: MIT */
/* Route: ctypes/cffi/JNA/JIT style: malloc/free looked up on the libc.so.6
 * handle instead of the global scope, mixed with the program's own calls and
 * with strdup. class: P */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	void *h = dlopen("libc.so.6", RTLD_NOW);
	CHECK(h);
	void *(*m)(size_t) = (void *(*)(size_t))dlsym(h, "malloc");
	void (*f)(void *) = (void (*)(void *))dlsym(h, "free");
	void *(*r)(void *, size_t) =
		(void *(*)(void *, size_t))dlsym(h, "realloc");
	CHECK(m && f && r);
	for (int i = 0; i < 300; i++) {
		size_t n = 1 + i * 331 % 90000;
		f(malloc(n));
		free(m(n));
		f(strdup("abcdef"));
		char *p = m(n);
		p[0] = 5;
		p = realloc(p, n * 2);
		CHECK(p[0] == 5);
		p = r(p, n * 3);
		CHECK(p[0] == 5);
		free(p);
	}
	return 0;
}
