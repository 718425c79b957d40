/* SPDX-License-Identifier: MIT */
/* What the kernel charges against overcommit (vm.overcommit_memory=2, and the
 * heuristic at fork) are private writable mappings, touched or not, unless
 * MAP_NORESERVE. With 20 MiB in use on 8 threads the charge must stay below
 * 256 MiB, and fork must work. class: R */
#include "hz.h"
enum { T = 8 };
static pthread_barrier_t ready, done;
static void *run(void *a)
{
	void *v[64];
	for (int i = 0; i < 64; i++) {
		v[i] = malloc(40000);
		CHECK(v[i]);
		memset(v[i], 1, 40000);
	}
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&done);
	for (int i = 0; i < 64; i++) {
		free(v[i]);
	}
	return a;
}
/* kB of the mappings with the flag "ac", accountable */
static long charged(void)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[512];
	long size = 0, sum = 0;
	CHECK(f);
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "Size: %ld kB", &size) == 1) {
			continue;
		}
		if (!strncmp(line, "VmFlags:", 8) && strstr(line, " ac")) {
			sum += size;
		}
	}
	fclose(f);
	return sum;
}
int main(void)
{
	hz_limit(20);
	pthread_t t[T];
	pthread_attr_t at;
	pthread_attr_init(&at);
	CHECK(!pthread_attr_setstacksize(&at, 1 << 18));
	CHECK(!pthread_barrier_init(&ready, NULL, T + 1));
	CHECK(!pthread_barrier_init(&done, NULL, T + 1));
	for (int i = 0; i < T; i++) {
		CHECK(!pthread_create(&t[i], &at, run, NULL));
	}
	pthread_barrier_wait(&ready);
	long kb = charged();
	if (!kb) {
		SKIP("the kernel does not show VmFlags");
	}
	dprintf(2, "charged: %ld kB\n", kb);
	CHECK(kb < 256 * 1024);
	pid_t c = fork();
	if (!c) {
		_exit(0);
	}
	CHECK(c > 0 && hz_child_ok(c));
	pthread_barrier_wait(&done);
	for (int i = 0; i < T; i++) {
		pthread_join(t[i], NULL);
	}
	return 0;
}
