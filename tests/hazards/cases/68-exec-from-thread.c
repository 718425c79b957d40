/* SPDX-License-Identifier: MIT */
/* execve from a secondary thread while others allocate; the new image starts
 * from a clean state. class: P */
#include "hz.h"
static void *churn(void *a)
{
	for (;;) {
		void *p = malloc(1000), *q = malloc(100000);
		free(p);
		free(q);
	}
	return a;
}
static void *ex(void *a)
{
	char *v[] = {a, "again", NULL};
	usleep(3000);
	execv("/proc/self/exe", v);
	_exit(4);
}
int main(int c, char **v)
{
	hz_limit(15);
	free(malloc(100));
	if (c > 1) {
		return 0;
	}
	pthread_t t;
	for (int i = 0; i < 3; i++) {
		CHECK(!pthread_create(&t, NULL, churn, NULL));
	}
	CHECK(!pthread_create(&t, NULL, ex, v[0]));
	pthread_join(t, NULL);
	return 1;
}
