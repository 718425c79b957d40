/* SPDX-License-Identifier: MIT */
/* environ == NULL / clearenv() / a hand-made environ: lazy option parsing must
 * cope, in new threads too. class: P */
#include "hz.h"
extern char **environ;
static void *run(void *a)
{
	for (int i = 0; i < 100; i++) {
		free(malloc(i * 1000));
	}
	return a;
}
int main(int c, char **v)
{
	hz_limit(15);
	if (c > 1 && !strcmp(v[1], "inner")) {
		for (int i = 0; i < 100; i++) {
			free(malloc(i * 100));
		}
		return 0;
	}
	char **save = environ;
	environ = NULL;
	free(malloc(100));
	pthread_t t;
	CHECK(!pthread_create(&t, NULL, run, NULL));
	pthread_join(t, NULL);
	CHECK(!setenv("A", "b", 1));
	CHECK(!strcmp(getenv("A"), "b"));
	clearenv();
	free(malloc(1 << 20));
	CHECK(!pthread_create(&t, NULL, run, NULL));
	pthread_join(t, NULL);
	/* what selects the library under test, between broken entries */
	static const char *const kept[] = {
		"LD_PRELOAD=", "ALLOC_BACKEND=", "GLIBC_TUNABLES="};
	char *envs[8] = {"=weird", "novalue", ""};
	int n = 3;
	for (char **e = save; e && *e; e++) {
		for (int i = 0; i < 3; i++) {
			if (!strncmp(*e, kept[i], strlen(kept[i]))) {
				envs[n++] = *e;
			}
		}
	}
	char *args[] = {v[0], "inner", NULL};
	pid_t p = fork();
	if (!p) {
		execve("/proc/self/exe", args, envs);
		_exit(3);
	}
	CHECK(hz_child_ok(p));
	return 0;
}
