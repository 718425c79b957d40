/* SPDX-License-Identifier: MIT */
/*
 * late_load.c - the shim comes by dlopen into a program that runs already.
 *
 *     late_load SHIM PLUGIN before|after BACKEND
 *
 * before: threads are started after the shim is loaded; after: they run when
 * it comes. Blocks from before are resized and freed after, by code that was
 * bound to libc at start; modules loaded later follow; then the shim is
 * detached, and its blocks still go home. Without relinking, the first free of
 * one of its blocks by this program aborts in libc ("invalid pointer"); a late
 * jemalloc does not load, tcmalloc and mimalloc crash. Exit status 0 if all
 * held.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 500, THREADS = 3 };

#define CHECK(x)                                                               \
	do {                                                                   \
		if (!(x)) {                                                    \
			fprintf(stderr, "late_load:%d: not held: %s\n",        \
				__LINE__, #x);                                 \
			exit(1);                                               \
		}                                                              \
	} while (0)

static struct {
	atomic_bool stop;
	atomic_long rounds;
} g;

static void *churn(void *arg)
{
	char *kept[64] = {NULL};
	unsigned seed = (unsigned)(size_t)arg;

	while (!g.stop) {
		unsigned i = (seed = seed * 1103515245 + 12345) >> 16 & 63;
		size_t size = 16 + (seed >> 4) % 3000;

		if (kept[i]) {
			CHECK(kept[i][0] == (char)i);
		}
		free(kept[i]);
		kept[i] = strdup("text of libc's making");
		kept[i] = realloc(kept[i], size);
		kept[i][0] = (char)i;
		g.rounds++;
	}
	for (int i = 0; i < 64; i++) {
		free(kept[i]);
	}
	return NULL;
}

static void start(pthread_t *threads)
{
	for (size_t i = 0; i < THREADS; i++) {
		CHECK(!pthread_create(&threads[i], NULL, churn, (void *)i));
	}
	while (g.rounds < 1000) {
		sched_yield();
	}
}

/* Let every thread go round some times under the state of affairs. */
static void let_run(void)
{
	long until = g.rounds + 3000;

	while (g.rounds < until) {
		sched_yield();
	}
}

static char *make(int i)
{
	char *block = malloc(20 + (size_t)i * 37);

	memset(block, i, 20 + (size_t)i * 37);
	return block;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	char *old[BLOCKS], *new[BLOCKS];

	CHECK(argc == 5);
	int after = !strcmp(argv[3], "after");
	const char *backend = argv[4];

	for (int i = 0; i < BLOCKS; i++) {
		old[i] = make(i);
	}
	if (after) {
		start(threads);
	}

	void *shim = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);

	CHECK(shim);
	int (*attach)(const char *) =
		(int (*)(const char *))dlsym(shim, "amux_attach");
	int (*detach)(void) = (int (*)(void))dlsym(shim, "amux_detach");
	const char *(*owner)(const void *) =
		(const char *(*)(const void *))dlsym(shim, "amux_owner");

	CHECK(attach && detach && owner);
	CHECK(attach(backend) == 0);
	if (!after) {
		start(threads);
	}
	let_run();
	for (int i = 0; i < BLOCKS; i++) {
		new[i] = make(i);
		CHECK(!strcmp(owner(new[i]), backend));
		CHECK(!strcmp(owner(old[i]), "system"));
		CHECK(malloc_usable_size(old[i]) >= 20 + (size_t)i * 37);
		old[i] = realloc(old[i], 5000 + (size_t)i * 50);
		CHECK(old[i][0] == (char)i && old[i][19 + i * 37] == (char)i);
	}

	/* What libc allocates for the program, and a module of later. */
	char *text = NULL;

	CHECK(asprintf(&text, "%s", backend) > 0);
	CHECK(!strcmp(owner(text), backend));
	free(text);

	void *plugin = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);

	CHECK(plugin);
	void *(*plugin_malloc)(size_t) =
		(void *(*)(size_t))dlsym(plugin, "pl_malloc");

	text = plugin_malloc(100);
	CHECK(!strcmp(owner(text), backend));
	free(text);

	CHECK(detach() == 0);
	let_run();
	text = malloc(100);
	CHECK(!strcmp(owner(text), "system"));
	free(text);
	for (int i = 0; i < BLOCKS; i++) {
		CHECK(new[i][0] == (char)i &&new[i][19 + i * 37] == (char)i);
		free(new[i]);
		free(old[i]);
	}
	g.stop = 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	return 0;
}
