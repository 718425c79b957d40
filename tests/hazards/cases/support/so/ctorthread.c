/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
/* a constructor that waits for its own worker, while the loader lock is held by
 * dlopen */
static void *run(void *a)
{
	for (int i = 0; i < 200; i++) {
		char *p = malloc(100 + i * 400);
		memset(p, 1, 100);
		free(p);
	}
	free(calloc(3, 100000));
	return a;
}
__attribute__((constructor)) static void up(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++) {
		pthread_create(&t[i], 0, run, 0);
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], 0);
	}
}
