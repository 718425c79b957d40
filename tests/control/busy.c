/* SPDX-License-Identifier: MIT */
/*
 * busy.c - a program to be attached to: busy MODE [ARGUMENT].
 *
 * Prints "ready" and works as MODE says until its standard input ends; then
 * checks that nobody noticed anything, prints "ok" and exits with 0.
 *
 *   alloc      three threads, all there are, allocate, check and free
 *   load LIB   all threads load and unload LIB
 *   compute    all threads compute in vector registers
 *   wait       threads wait in system calls of every restartable kind
 *   small      as wait, on stacks as small as there may be
 *   filtered   as wait, under a seccomp filter that allows everything
 *   traced     a child as wait, traced by its parent; prints the child's pid
 *   signals    as alloc, while a timer signals the process
 *   fork       all threads fork children that exit
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 16, BLOCKS = 512 };

static atomic_bool done;
static atomic_int failures;
static pthread_t threads[THREADS];
static int thread_count;
static int wake[2]; /* a pipe: readable at the end */
static sem_t semaphore;
static const char *library;

static _Thread_local bool watches_input;

/* For loops that work without pause; the main thread looks at its input. */
static bool at_end(void)
{
	static _Thread_local unsigned turn;
	char c;

	if (watches_input && ++turn % 64 == 0 && read(0, &c, 1) == 0) {
		done = true;
	}
	return done;
}

static void fail(const char *what)
{
	fprintf(stderr, "busy: %s (errno %d)\n", what, errno);
	failures++;
}

static void start(void *(*run)(void *), size_t stack)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	if (stack) {
		pthread_attr_setstacksize(&attr, stack);
	}
	if (pthread_create(&threads[thread_count++], &attr, run, NULL)) {
		fail("pthread_create");
		exit(1);
	}
	pthread_attr_destroy(&attr);
}

static void *allocate(void *arg)
{
	unsigned char *blocks[BLOCKS] = {0};
	size_t sizes[BLOCKS];
	unsigned seed = (unsigned)(uintptr_t)&seed;

	while (!at_end()) {
		unsigned i = (unsigned)rand_r(&seed) % BLOCKS;

		if (blocks[i]) {
			if (blocks[i][0] != (unsigned char)i ||
				blocks[i][sizes[i] - 1] != (unsigned char)i) {
				fail("a block has changed");
			}
			free(blocks[i]);
		}
		sizes[i] = 1 + (size_t)(rand_r(&seed) % 3000);
		blocks[i] = malloc(sizes[i]);
		memset(blocks[i], (int)i, sizes[i]);
	}
	for (int i = 0; i < BLOCKS; i++) {
		free(blocks[i]);
	}
	return NULL;
}

#ifdef BUSY_STATIC /* where there is no loader */
	#define load allocate
#else
static void *load(void *arg)
{
	while (!at_end()) {
		void *handle = dlopen(library, RTLD_NOW);

		if (!handle) {
			fail(dlerror());
			break;
		}
		dlclose(handle);
	}
	return NULL;
}
#endif

/* Four sums of the same series, so that any lost register shows. */
static void *compute(void *arg)
{
	while (!at_end()) {
		volatile double seed = 1.0;
		double a = seed, b = seed, c = seed, d = seed;

		for (int i = 1; i < 1000000; i++) {
			a += 1.0 / i;
			b += 1.0 / i;
			c += 1.0 / i;
			d += 1.0 / i;
		}
		if (a != b || b != c || c != d) {
			fail("a register has changed");
		}
	}
	return NULL;
}

static void check_wait(const char *what, int result, int expected)
{
	enum { MARK = 1234 };

	if (result != expected) {
		fail(what);
	}
	if (result >= 0 && errno != MARK) {
		fail("errno has changed");
	}
	errno = MARK;
}

static void *wait_read(void *arg)
{
	char c;

	errno = 1234;
	check_wait("read", (int)read(wake[0], &c, 1), 0);
	return NULL;
}

static void *wait_poll(void *arg)
{
	struct pollfd fd = {.fd = wake[0], .events = POLLIN};

	errno = 1234;
	check_wait("poll", poll(&fd, 1, 600 * 1000), 1);
	return NULL;
}

static void *wait_select(void *arg)
{
	struct timeval limit = {.tv_sec = 600};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(wake[0], &set);
	errno = 1234;
	check_wait("select", select(wake[0] + 1, &set, NULL, NULL, &limit), 1);
	return NULL;
}

static void *wait_semaphore(void *arg)
{
	errno = 1234;
	check_wait("sem_wait", sem_wait(&semaphore), 0);
	return NULL;
}

static void *wait_sleep(void *arg)
{
	struct timespec nap = {.tv_nsec = 50 * 1000 * 1000};

	errno = 1234;
	while (!done) {
		check_wait("nanosleep", nanosleep(&nap, NULL), 0);
	}
	return NULL;
}

static void start_waits(size_t stack)
{
	start(wait_read, stack);
	start(wait_poll, stack);
	start(wait_select, stack);
	start(wait_semaphore, stack);
	start(wait_sleep, stack);
}

static void *fork_away(void *arg)
{
	while (!at_end()) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			free(malloc(1000));
			_exit(0);
		}
		if (waitpid(child, &status, 0) != child || status != 0) {
			fail("a child");
		}
	}
	return NULL;
}

static void allow_everything(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog filter = {.len = 1, .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
		fail("seccomp");
	}
}

static void ignore(int signal)
{
	(void)signal;
}

static void start_timer(void)
{
	struct sigaction action = {
		.sa_handler = ignore, .sa_flags = SA_RESTART};
	struct itimerval timer = {.it_interval = {.tv_usec = 1000},
		.it_value = {.tv_usec = 1000}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Until the input ends: wait for that, or work like the others. */
static int end(void *(*work)(void *))
{
	char c;

	printf("ready\n");
	fflush(stdout);
	if (work) {
		watches_input = true;
		fcntl(0, F_SETFL, O_NONBLOCK);
		work(NULL);
	} else {
		while (read(0, &c, 1) > 0) {
		}
		done = true;
	}
	close(wake[1]);
	sem_post(&semaphore);
	for (int i = 0; i < thread_count; i++) {
		pthread_join(threads[i], NULL);
	}
	if (failures == 0) {
		puts("ok");
	}
	return failures != 0;
}

static int be_traced(void)
{
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	if (ptrace(PTRACE_SEIZE, child, NULL, NULL)) {
		fail("ptrace");
	}
	printf("%d\n", child);
	end(NULL);
	kill(child, SIGKILL);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	void *(*work)(void *) = NULL;

	library = argc > 2 ? argv[2] : NULL;
	if (pipe(wake) || sem_init(&semaphore, 0, 0)) {
		return 1;
	}
	if (!strcmp(mode, "alloc") || !strcmp(mode, "signals")) {
		work = allocate;
		if (*mode == 's') {
			start_timer();
		}
	} else if (!strcmp(mode, "load")) {
		work = load;
	} else if (!strcmp(mode, "compute")) {
		work = compute;
	} else if (!strcmp(mode, "wait")) {
		start_waits(0);
	} else if (!strcmp(mode, "small")) {
		start_waits((size_t)sysconf(_SC_THREAD_STACK_MIN));
	} else if (!strcmp(mode, "filtered")) {
		allow_everything();
		start_waits(0);
	} else if (!strcmp(mode, "fork")) {
		work = fork_away;
	} else if (!strcmp(mode, "traced")) {
		return be_traced();
	} else {
		return 2;
	}
	if (work) {
		start(work, 0);
		start(work, 0);
	}
	return end(work);
}
