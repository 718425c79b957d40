/* SPDX-License-Identifier: MIT */
/* Started with descriptors 0 to 2 closed, the program's own files get these
 * numbers, and nobody else may write to them or close them. Later not a single
 * descriptor is to be had: allocation works on, also in new threads and in a
 * forked child. class: R */
#include "hz.h"
static void *run(void *a)
{
	void *v[200];
	for (int i = 0; i < 200; i++) {
		v[i] = malloc((size_t)i * i * 3 + 1);
		CHECK(v[i]);
	}
	for (int i = 0; i < 200; i++) {
		free(v[i]);
	}
	free(memalign(1 << 21, 3 << 20));
	return a;
}
static void threads(void)
{
	for (int i = 0; i < 5; i++) {
		pthread_t t;
		CHECK(!pthread_create(&t, NULL, run, NULL));
		pthread_join(t, NULL);
	}
	run(NULL);
	malloc_trim(0);
}
int main(int c, char **v)
{
	hz_limit(20);
	if (c < 2) {
		/* the message of a failed check in the new image */
		int err = fcntl(2, F_DUPFD, 100);
		char num[16];
		snprintf(num, sizeof num, "%d", err);
		char *a[] = {v[0], num, NULL};
		for (int i = 0; i < 3; i++) {
			close(i);
		}
		execv("/proc/self/exe", a);
		_exit(3);
	}
	for (int i = 0; i < 3; i++) {
		if (fcntl(i, F_GETFD) != -1) {
			_exit(4);
		}
	}
	char path[] = "/tmp/hz45-XXXXXX";
	if (mkstemp(path) != 0) {
		_exit(5);
	}
	unlink(path);
	int keep = fcntl(0, F_DUPFD, 60);
	if (dup(0) != 1 || dup2(atoi(v[1]), 2) != 2) {
		_exit(6);
	}
	CHECK(keep == 60);
	threads();
	struct rlimit none = {0, 0};
	CHECK(!setrlimit(RLIMIT_NOFILE, &none));
	CHECK(dup(0) == -1 && errno == EMFILE);
	threads();
	pid_t p = fork();
	if (!p) {
		threads();
		_exit(0);
	}
	CHECK(hz_child_ok(p));
	struct stat st, again;
	CHECK(!fstat(0, &st) && !fstat(keep, &again));
	CHECK(st.st_size == 0 && st.st_ino == again.st_ino);
	return 0;
}
