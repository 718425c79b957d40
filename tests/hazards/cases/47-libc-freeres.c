/* SPDX-License-Identifier: MIT */
/* valgrind-like tools call __libc_freeres() at exit: libc then frees its
 * internal caches through the interposed free. class: R */
#include "hz.h"
#include <locale.h>
#include <netdb.h>
#include <pwd.h>
int main(void)
{
	hz_limit(10);
	setlocale(LC_ALL, "C.UTF-8");
	(void)getpwnam("root");
	(void)gethostbyname("127.0.0.1");
	dlopen("libm.so.6", RTLD_NOW);
	dlerror();
	dlsym(RTLD_DEFAULT, "nope");
	setenv("Q", "1", 1);
	FILE *f = fopen("/dev/null", "w");
	fprintf(f, "x");
	(void)f;
	void (*fr)(void) =
		(void (*)(void))dlsym(RTLD_DEFAULT, "__libc_freeres");
	if (!fr) {
		fr = (void (*)(void))dlvsym(
			RTLD_DEFAULT, "__libc_freeres", "GLIBC_2.2.5");
		if (!fr) {
			SKIP("no __libc_freeres");
		}
	}
	fr();
	_exit(0);
}
