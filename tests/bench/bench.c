/* SPDX-License-Identifier: MIT */
/*
 * bench.c - options, time, resident size, threads and report of a workload.
 *
 * Locks: none. Each report line is one write(2), so lines never mix.
 */
#include "bench.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 4096
#define STACK_SIZE  (256u * 1024)

static _Noreturn void usage(const struct bench *b, const char *modes)
{
	dprintf(2, "%s: usage: %s [-s PERCENT] [-t THREADS]%s%s\n", b->name,
		b->name, *modes ? " one of: " : "", modes);
	exit(2);
}

/* Is `mode` one of the words in `modes`? */
static int mode_known(const char *mode, const char *modes)
{
	size_t length = strlen(mode);

	while (*modes) {
		size_t word = strcspn(modes, " ");

		if (word == length && memcmp(mode, modes, word) == 0) {
			return 1;
		}
		modes += word;
		modes += strspn(modes, " ");
	}
	return 0;
}

void bench_parse(
	struct bench *b, int argc, char *const argv[], const char *modes)
{
	static char first[32];
	int option;

	*b = (struct bench){.name = argv[0], .mode = first, .scale = 100};
	snprintf(first, sizeof(first), "%.*s", (int)strcspn(modes, " "), modes);
	while ((option = getopt(argc, argv, "s:t:")) != -1) {
		char *end = "";
		unsigned long number = 0;

		if (option == 's' || option == 't') {
			number = strtoul(optarg, &end, 10);
		}
		if (*end || number < 1 || number > 100000) {
			usage(b, modes);
		}
		if (option == 's') {
			b->scale = (unsigned)number;
		} else {
			b->threads = (unsigned)number;
		}
	}
	if (optind < argc) {
		b->mode = argv[optind++];
		if (!mode_known(b->mode, modes)) {
			usage(b, modes);
		}
	}
	if (optind < argc) {
		usage(b, modes);
	}
}

uint64_t bench_scale(const struct bench *b, uint64_t count, uint64_t least)
{
	uint64_t scaled = count * b->scale / 100;

	return scaled < least ? least : scaled;
}

void bench_fail(const char *what)
{
	dprintf(2, "bench: %s\n", what);
	_exit(1);
}

uint64_t bench_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t bench_rss_kib(void)
{
	char text[4096];
	size_t have = 0;
	ssize_t got;
	const char *line;
	int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		bench_fail("cannot open /proc/self/smaps_rollup");
	}
	while ((got = read(fd, text + have, sizeof(text) - 1 - have)) > 0) {
		have += (size_t)got;
	}
	close(fd);
	text[have] = '\0';
	line = strstr(text, "\nRss:");
	if (!line) {
		bench_fail("no Rss line in /proc/self/smaps_rollup");
	}
	return strtoul(line + 5, NULL, 10);
}

void bench_report(const char *key, double value)
{
	char line[128];
	int length = snprintf(line, sizeof(line), "%s %.6g\n", key, value);

	if (write(1, line, (size_t)length) != length) {
		bench_fail("cannot write the report");
	}
}

void bench_done(uint64_t ops, uint64_t start_ns)
{
	double seconds = (double)(bench_now() - start_ns) / 1e9;

	bench_report("ops", (double)ops);
	bench_report("seconds", seconds);
	bench_report("rate", (double)ops / seconds);
	bench_report("checked", 1);
}

void *bench_malloc(size_t size)
{
	void *ptr = malloc(size);

	if (!ptr) {
		bench_fail("malloc failed");
	}
	if ((uintptr_t)ptr % (size < 16 ? 8 : 16)) {
		bench_fail("malloc returned a misaligned block");
	}
	return ptr;
}

static pthread_t thread_start(void *(*body)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	if (pthread_create(&thread, &attr, body, arg)) {
		bench_fail("pthread_create failed");
	}
	pthread_attr_destroy(&attr);
	return thread;
}

void bench_threads(
	unsigned count, void *(*body)(void *), void *args, size_t size)
{
	static pthread_t threads[THREADS_MAX];

	if (count > THREADS_MAX) {
		bench_fail("too many threads");
	}
	for (unsigned i = 0; i < count; i++) {
		threads[i] = thread_start(body, (char *)args + i * size);
	}
	for (unsigned i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
	}
}

void bench_thread(void *(*body)(void *), void *arg)
{
	pthread_join(thread_start(body, arg), NULL);
}
