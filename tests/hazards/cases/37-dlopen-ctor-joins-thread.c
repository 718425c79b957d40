/* SPDX-License-Identifier: MIT */
/* A plugin's constructor starts a thread that allocates for the first time and
 * joins it, inside dlopen (loader lock held). If a first malloc in a thread
 * needs the loader lock (lazy TLS via
 * __tls_get_addr, dlsym, dl_iterate_phdr) this deadlocks. class: G */
#include "hz.h"
int main(void)
{
	hz_limit(15);
	for (int i = 0; i < 30; i++) {
		CHECK(!dlclose(hz_open("ctorthread.so", RTLD_NOW)));
	}
	return 0;
}
