/* SPDX-License-Identifier: MIT */
/*
 * probe.c - print the path of the object whose malloc this process uses, so
 * that the driver measures what it says it measures.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	Dl_info info;
	void *block = malloc(100);

	free(block);
	if (!block || !dladdr(dlsym(RTLD_DEFAULT, "malloc"), &info)) {
		return 1;
	}
	dprintf(1, "%s\n", info.dli_fname);
	return 0;
}
