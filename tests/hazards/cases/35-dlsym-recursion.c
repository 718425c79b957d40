/* SPDX-License-Identifier: MIT */
/* dlsym, dlvsym, dlopen and dlerror allocate, and the failing forms keep a
 * message per thread that ld.so frees at thread exit. Called before any
 * constructor, in one, and as the first thing in a thread; an allocator that
 * uses them itself on first use re-enters itself. class: G */
#include "hz.h"
static int bad;
static void ask(void)
{
	bad += dlsym(RTLD_DEFAULT, "hz_no_such_symbol") != NULL;
	const char *e = dlerror();
	bad += !e || !strstr(e, "hz_no_such_symbol");
	bad += dlvsym(RTLD_NEXT, "malloc", "HZ_0.0") != NULL;
	bad += dlopen("hz-no-such-library.so", RTLD_NOW) != NULL;
	e = dlerror();
	bad += !e || !strstr(e, "hz-no-such-library");
	bad += dlsym(RTLD_DEFAULT, "malloc") == NULL;
	/* a message that nobody fetches */
	bad += dlsym(RTLD_DEFAULT, "hz_no_such_symbol") != NULL;
}
static void first(int c, char **v, char **e)
{
	(void)c;
	(void)v;
	(void)e;
	hz_limit(20);
	ask();
}
__attribute__((section(".preinit_array"), used)) static void (*hook)(
	int, char **, char **) = first;
static void *run(void *a)
{
	int *n = a;
	if (dlsym(RTLD_DEFAULT, "hz_no_such_symbol") || !dlerror()) {
		*n = 1;
	}
	free(malloc(100));
	if (dlsym(RTLD_DEFAULT, "hz_no_such_symbol")) {
		*n = 1;
	}
	return NULL;
}
__attribute__((constructor(101))) static void early(void)
{
	ask();
}
int main(void)
{
	ask();
	long r0 = 0;
	for (int r = 0; r < 600; r++) {
		pthread_t t[4];
		int n[4] = {0};
		for (int i = 0; i < 4; i++) {
			CHECK(!pthread_create(&t[i], NULL, run, &n[i]));
		}
		for (int i = 0; i < 4; i++) {
			pthread_join(t[i], NULL);
			CHECK(n[i] == 0);
		}
		if (r == 100) {
			r0 = hz_rss_kb();
		}
	}
	CHECK(hz_rss_kb() - r0 < 16 * 1024);
	CHECK(bad == 0);
	return 0;
}
