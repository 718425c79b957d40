/* SPDX-License-Identifier: MIT */
/* Route: allocator dlopen-ed, used by a thread, dlclose-d, then the thread
 * exits: its pthread key destructor points into unmapped code. class: R */
#include "hz.h"
static volatile int st;
static void *(*m)(size_t);
static void (*f)(void *);
static void *run(void *a)
{
	for (int i = 0; i < 100; i++) {
		f(m(i * 50));
	}
	st = 1;
	while (st != 2) {
		usleep(200);
	}
	return a;
}
int main(void)
{
	hz_limit(10);
	const char *lib = getenv("HZ_LIB");
	if (!lib || !*lib) {
		return 0;
	}
	for (int k = 0; k < 3; k++) {
		void *h = dlopen(lib, RTLD_NOW | RTLD_LOCAL);
		if (!h) {
			dprintf(2, "load: %s\n", dlerror());
			_exit(3);
		}
		m = (void *(*)(size_t))dlsym(h, "malloc");
		f = (void (*)(void *))dlsym(h, "free");
		st = 0;
		pthread_t t;
		CHECK(!pthread_create(&t, NULL, run, NULL));
		while (st != 1) {
			usleep(200);
		}
		dlclose(h);
		st = 2;
		pthread_join(t, NULL);
	}
	return 0;
}
