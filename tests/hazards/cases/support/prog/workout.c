/* SPDX-License-Identifier: MIT */
/* generic small work-out used by the .sh drivers: sizes, realloc, aligned,
 * threads */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *w(void *a)
{
	unsigned char *v[200];
	for (int r = 0; r < 20; r++) {
		for (int i = 0; i < 200; i++) {
			size_t n = (size_t)i * (r * 13 + 1) + 1;
			v[i] = malloc(n);
			if (!v[i]) {
				_exit(10);
			}
			v[i][0] = v[i][n - 1] = i;
		}
		for (int i = 0; i < 200; i++) {
			v[i] = realloc(v[i], i * 40 + 2);
			if (!v[i] || v[i][0] != (unsigned char)i) {
				_exit(11);
			}
		}
		for (int i = 0; i < 200; i++) {
			free(v[i]);
		}
	}
	void *p;
	if (posix_memalign(&p, 4096, 100000)) {
		_exit(12);
	}
	free(p);
	char *z = calloc(1, 3 << 20);
	if (!z || z[12345]) {
		_exit(13);
	}
	free(z);
	return a;
}
int main(void)
{
	alarm(20);
	w(0);
	pthread_t t[3];
	for (int i = 0; i < 3; i++) {
		if (pthread_create(&t[i], 0, w, 0)) {
			_exit(14);
		}
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], 0);
	}
	return 0;
}
