/* SPDX-License-Identifier: MIT */
/* The address space is exhausted when a thread allocates for the first time:
 * whatever the allocator keeps per thread cannot be mapped. The call gives
 * memory or NULL with ENOMEM, never a crash, and works once there is room
 * again. class: P */
#include "hz.h"
enum { T = 8 };
static pthread_barrier_t full, tried, room;
static void *run(void *a)
{
	size_t sizes[] = {16, 200, 3000, 40000, 5 << 20};
	void *v[5];
	pthread_barrier_wait(&full);
	for (int i = 0; i < 5; i++) {
		errno = 0;
		v[i] = malloc(sizes[i]);
		if (v[i]) {
			memset(v[i], 1, sizes[i]);
		} else {
			CHECK(errno == ENOMEM);
		}
	}
	for (int i = 0; i < 5; i++) {
		errno = 55;
		free(v[i]);
		CHECK(errno == 55);
	}
	pthread_barrier_wait(&tried);
	pthread_barrier_wait(&room);
	for (int i = 0; i < 4; i++) {
		v[i] = malloc(sizes[i]);
		CHECK(v[i]);
		memset(v[i], 1, sizes[i]);
		free(v[i]);
	}
	return a;
}
int main(void)
{
	hz_limit(30);
	pthread_t t[T];
	CHECK(!pthread_barrier_init(&full, NULL, T + 1));
	CHECK(!pthread_barrier_init(&tried, NULL, T + 1));
	CHECK(!pthread_barrier_init(&room, NULL, T + 1));
	for (int i = 0; i < T; i++) {
		CHECK(!pthread_create(&t[i], NULL, run, NULL));
	}
	FILE *f = fopen("/proc/self/statm", "r");
	long pg;
	CHECK(f && fscanf(f, "%ld", &pg) == 1);
	fclose(f);
	struct rlimit old, r;
	CHECK(!getrlimit(RLIMIT_AS, &old));
	r = old;
	r.rlim_cur = (rlim_t)pg * 4096 + (64u << 20);
	CHECK(!setrlimit(RLIMIT_AS, &r));
	/* take the rest: by mmap, then block by block */
	for (size_t n = 64 << 20; n >= 4096; n /= 2) {
		while (mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0) != MAP_FAILED) {
			;
		}
	}
	size_t taken = 0;
	for (size_t n = 1 << 20; n >= 16; n /= 2) {
		for (char *p; (p = malloc(n)); taken += n) {
			p[0] = 1;
			if (taken > (size_t)1 << 30) {
				SKIP("library had reserved address space "
				     "beforehand");
			}
		}
	}
	pthread_barrier_wait(&full);
	pthread_barrier_wait(&tried);
	CHECK(!setrlimit(RLIMIT_AS, &old));
	pthread_barrier_wait(&room);
	for (int i = 0; i < T; i++) {
		pthread_join(t[i], NULL);
	}
	return 0;
}
