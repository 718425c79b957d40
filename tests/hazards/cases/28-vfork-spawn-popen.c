/* SPDX-License-Identifier: MIT */
/* vfork, posix_spawn, system, popen under allocation load: the vfork child
 * shares memory and TLS with the parent, runs no atfork handlers, and must not
 * disturb the parent's allocator. class: P
 */
#include "hz.h"
#include <spawn.h>
extern char **environ;
static volatile int stop;
static void *churn(void *a)
{
	unsigned s = 9;
	void *v[32] = {0};
	while (!stop) {
		unsigned i = hz_rnd(&s) % 32;
		free(v[i]);
		v[i] = malloc(hz_rnd(&s) % 9000);
	}
	for (int i = 0; i < 32; i++) {
		free(v[i]);
	}
	return a;
}
int main(void)
{
	hz_limit(50);
	pthread_t t[2];
	for (int i = 0; i < 2; i++) {
		CHECK(!pthread_create(&t[i], NULL, churn, NULL));
	}
	char *av[] = {"true", NULL};
	for (int r = 0; r < 25; r++) {
		pid_t p = vfork();
		if (p == 0) {
			execve("/bin/true", av, environ);
			_exit(9);
		}
		CHECK(p > 0 && hz_child_ok(p));
		CHECK(!posix_spawn(&p, "/bin/true", NULL, NULL, av, environ));
		CHECK(hz_child_ok(p));
		if (r % 5 == 0) {
			CHECK(system("exit 0") == 0);
			FILE *f = popen("echo hi", "r");
			char b[16];
			CHECK(f && fgets(b, 16, f) && !strcmp(b, "hi\n"));
			CHECK(pclose(f) == 0);
		}
		free(malloc(100000));
	}
	stop = 1;
	for (int i = 0; i < 2; i++) {
		pthread_join(t[i], NULL);
	}
	return 0;
}
