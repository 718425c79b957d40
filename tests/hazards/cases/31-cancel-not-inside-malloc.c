/* SPDX-License-Identifier: MIT */
/* malloc/free are no cancellation points. An allocator that calls
 * open/read/nanosleep/write internally can be cancelled there, with its locks
 * held. A thread with a pending deferred cancel must come out of lots of
 * allocation alive. class: P */
#include "hz.h"
static volatile int reached[32];
static void *run(void *a)
{
	int id = (int)(intptr_t)a;
	pthread_cancel(pthread_self());
	for (int i = 0; i < 400; i++) {
		void *p = malloc(1 + i * 31), *q = malloc(1 << 20),
		     *r = memalign(8192, 70000), *c = calloc(1, 300000);
		p = realloc(p, 500000);
		memset(q, 1, 4096);
		free(r);
		free(p);
		free(q);
		free(c);
	}
	void *h = malloc((size_t)1 << 50);
	free(h);
	reached[id] = 1;
	pthread_testcancel();
	reached[id] = 2;
	return NULL;
}
int main(void)
{
	hz_limit(30);
	for (int i = 0; i < 32; i++) {
		pthread_t t;
		void *r;
		CHECK(!pthread_create(&t, NULL, run, (void *)(intptr_t)i));
		pthread_join(t, &r);
		CHECK(reached[i] == 1);
		CHECK(r == PTHREAD_CANCELED);
		free(malloc(100));
	}
	return 0;
}
