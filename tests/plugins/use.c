/* SPDX-License-Identifier: MIT */
/*
 * use.c - the program of the plugin tests: uses what it is given and prints who
 * gave it, by the API of the shim.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
	const char *(*active)(void) = (const char *(*)(void))dlsym(
		RTLD_DEFAULT, "amux_backend_active");
	char *block = malloc(1000), *zeros = calloc(10, 100), *aligned;

	if (!active || !block || !zeros) {
		return 2;
	}
	memset(block, 1, 1000);
	block = realloc(block, 100000);
	aligned = aligned_alloc(4096, 5000);
	if (!block || block[999] != 1 || zeros[999] != 0 || !aligned ||
		(uintptr_t)aligned % 4096 ||
		malloc_usable_size(block) < 100000) {
		return 3;
	}
	free(block);
	free(zeros);
	free(aligned);
	printf("%s\n", active());
	return 0;
}
