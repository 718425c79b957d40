/* SPDX-License-Identifier: MIT */
/* The program (a tracer, a sandbox) defines mmap, munmap, mremap and madvise,
 * looks up the next ones with dlsym, and allocates in its wrappers. An
 * allocator that calls the public names with a lock held, or before it is
 * ready, deadlocks or recurses. class: G */
#include "hz.h"
static __thread int inside;
static long calls;
static void note(void)
{
	if (inside) {
		return;
	}
	inside = 1;
	__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	void *p = malloc(40), *q = calloc(3, 50);
	free(p);
	free(q);
	inside = 0;
}
static void *next(const char *name)
{
	inside++;
	void *p = dlsym(RTLD_NEXT, name);
	inside--;
	if (!p) {
		_exit(9);
	}
	return p;
}
void *mmap(void *a, size_t n, int prot, int flags, int fd, off_t off)
{
	void *(*real)(void *, size_t, int, int, int, off_t) = next("mmap");
	note();
	return real(a, n, prot, flags, fd, off);
}
int munmap(void *a, size_t n)
{
	int (*real)(void *, size_t) = next("munmap");
	note();
	return real(a, n);
}
int madvise(void *a, size_t n, int advice)
{
	int (*real)(void *, size_t, int) = next("madvise");
	note();
	return real(a, n, advice);
}
static void *run(void *a)
{
	unsigned s = 1 + (unsigned)(uintptr_t)a;
	unsigned char *v[64] = {0};
	for (int i = 0; i < 4000; i++) {
		unsigned k = hz_rnd(&s) % 64;
		CHECK(!v[k] || v[k][0] == k);
		free(v[k]);
		v[k] = malloc(1 + hz_rnd(&s) % (k % 8 ? 5000 : 900000));
		CHECK(v[k]);
		v[k][0] = k;
	}
	for (int i = 0; i < 64; i++) {
		free(v[i]);
	}
	return NULL;
}
int main(void)
{
	hz_limit(30);
	pthread_t t[3];
	for (uintptr_t i = 0; i < 3; i++) {
		CHECK(!pthread_create(&t[i], NULL, run, (void *)i));
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], NULL);
	}
	malloc_trim(0);
	char *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(m != MAP_FAILED && m[100] == 0);
	CHECK(!madvise(m, 4096, MADV_DONTNEED) && !munmap(m, 4096));
	CHECK(calls >= 3);
	return 0;
}
