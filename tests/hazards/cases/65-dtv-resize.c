/* SPDX-License-Identifier: MIT */
/* 60 TLS modules loaded while threads run: ld.so grows each thread's dtv with
 * realloc/malloc of its own, where the first dtv came from the loader's
 * bootstrap allocator. class: P */
#include "hz.h"
enum { N = 60 };
static int *(*fn[N])(void);
static volatile int ready, done;
static void *run(void *a)
{
	while (!ready) {
		usleep(500);
	}
	for (int i = 0; i < N; i++) {
		if (fn[i]) {
			*fn[i]() += i;
			CHECK(*fn[i]() == i);
		}
		free(malloc(i * 100));
	}
	return a;
}
int main(void)
{
	hz_limit(20);
	pthread_t t[4];
	for (int i = 0; i < 4; i++) {
		CHECK(!pthread_create(&t[i], NULL, run, NULL));
	}
	char d[] = "/tmp/hz65-XXXXXX";
	CHECK(mkdtemp(d));
	char cmd[9000];
	snprintf(cmd, sizeof cmd,
		"unset LD_PRELOAD; for i in $(seq 0 59); do cp %s %s/m$i.so; done",
		hz_path("smalltls.so"), d);
	CHECK(system(cmd) == 0);
	for (int i = 0; i < N; i++) {
		char p[300];
		snprintf(p, sizeof p, "%s/m%d.so", d, i);
		void *h = dlopen(p, RTLD_NOW);
		CHECK(h);
		fn[i] = (int *(*)(void))dlsym(h, "hz_addr");
	}
	ready = 1;
	for (int i = 0; i < N; i++) {
		CHECK(*fn[i]() == 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
	}
	snprintf(cmd, sizeof cmd, "unset LD_PRELOAD; rm -rf %s", d);
	system(cmd);
	return 0;
}
