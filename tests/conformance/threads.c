/* SPDX-License-Identifier: MIT */
/*
 * threads.c - the malloc family on many threads, across thread exit and fork.
 *
 * malloc(3): "these functions are thread-safe"; glibc keeps malloc usable in
 * the child of a multithreaded program, and programs rely on it.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "conformance.h"

enum { THREADS = 6, SLOTS = 512 };

/* What every block carries, so that damage shows wherever it is freed. */
struct parcel {
	size_t size;
	unsigned char value;
	unsigned char body[];
};

static struct {
	struct parcel *_Atomic slots[SLOTS]; /* sync: atomic exchange */
	atomic_int damaged;                  /* sync: atomic */
	atomic_int stop;                     /* sync: atomic */
} g;

static struct parcel *parcel_make(unsigned *seed)
{
	size_t size =
		sizeof(struct parcel) +
		random_next(seed) % (random_next(seed) % 64 ? 600 : 200000);
	struct parcel *parcel;

	switch (random_next(seed) % 4) {
	case 0:
		parcel = calloc(1, size);
		break;
	case 1:
		parcel = aligned_alloc(64, size);
		break;
	case 2:
		parcel = realloc(malloc(1), size);
		break;
	default:
		parcel = malloc(size);
		break;
	}
	if (!parcel || (uintptr_t)parcel % 16) {
		g.damaged++;
		return NULL;
	}
	parcel->size = size - sizeof(*parcel);
	parcel->value = (unsigned char)random_next(seed);
	memset(parcel->body, parcel->value, parcel->size);
	return parcel;
}

static void parcel_drop(struct parcel *parcel)
{
	if (!parcel) {
		return;
	}
	for (size_t i = 0; i < parcel->size; i++) {
		if (parcel->body[i] != parcel->value) {
			g.damaged++;
			break;
		}
	}
	errno = 12345;
	free(parcel);
	if (errno != 12345) {
		g.damaged++;
	}
}

/* Make blocks and drop whatever another thread left in the slot. */
static void exchange(unsigned *seed, int steps)
{
	for (int i = 0; i < steps && !g.stop; i++) {
		struct parcel *parcel = parcel_make(seed);

		parcel_drop(atomic_exchange(
			&g.slots[random_next(seed) % SLOTS], parcel));
	}
}

static void drop_all(void)
{
	for (int i = 0; i < SLOTS; i++) {
		parcel_drop(atomic_exchange(&g.slots[i], NULL));
	}
}

static void *exchange_thread(void *arg)
{
	unsigned seed = 1000 + (unsigned)(uintptr_t)arg;

	exchange(&seed, 60000);
	return NULL;
}

static void *exchange_until_stopped(void *arg)
{
	unsigned seed = 2000 + (unsigned)(uintptr_t)arg;

	while (!g.stop) {
		exchange(&seed, 1000);
	}
	return NULL;
}

static void start(pthread_t *threads, int count, void *(*body)(void *))
{
	for (int i = 0; i < count; i++) {
		assert_int_equal(pthread_create(&threads[i], NULL, body,
					 (void *)(uintptr_t)i),
			0);
	}
}

static void join(pthread_t *threads, int count)
{
	for (int i = 0; i < count; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	}
}

static int reset(void **state)
{
	g.damaged = 0;
	g.stop = 0;
	return 0;
}

static void test_malloc_comes_from_the_library_under_test(void **state)
{
	assert_interposed("malloc");
	assert_interposed("free");
}

static void test_blocks_pass_between_threads_unharmed(void **state)
{
	pthread_t threads[THREADS];

	start(threads, THREADS, exchange_thread);
	join(threads, THREADS);
	drop_all();
	assert_int_equal(g.damaged, 0);
}

static void *leave_blocks(void *arg)
{
	unsigned seed = 3000 + (unsigned)(uintptr_t)arg;

	for (int i = 0; i < 20; i++) {
		parcel_drop(
			atomic_exchange(&g.slots[random_next(&seed) % SLOTS],
				parcel_make(&seed)));
	}
	return NULL;
}

static void test_blocks_outlive_their_threads(void **state)
{
	pthread_t threads[THREADS];

	for (int round = 0; round < 200; round++) {
		start(threads, THREADS, leave_blocks);
		join(threads, THREADS);
	}
	drop_all();
	assert_int_equal(g.damaged, 0);
}

static void destructor(void *value)
{
	void *block = malloc(3000);

	if (!block) {
		g.damaged++;
	}
	free(block);
	free(value);
}

static pthread_key_t key;

static void *with_destructor(void *arg)
{
	pthread_setspecific(key, malloc(100));
	return NULL;
}

static void test_thread_destructors_may_allocate(void **state)
{
	pthread_t threads[THREADS];

	assert_int_equal(pthread_key_create(&key, destructor), 0);
	for (int round = 0; round < 100; round++) {
		start(threads, THREADS, with_destructor);
		join(threads, THREADS);
	}
	pthread_key_delete(key);
	assert_int_equal(g.damaged, 0);
}

static void *one_thread_more(void *arg)
{
	unsigned seed = 77;

	exchange(&seed, 500);
	return NULL;
}

/* The child frees blocks of threads that it does not have. */
static void child_work(void)
{
	unsigned seed = 99;
	pthread_t thread;

	alarm(60);
	drop_all();
	exchange(&seed, 2000);
	if (pthread_create(&thread, NULL, one_thread_more, NULL) ||
		pthread_join(thread, NULL)) {
		_exit(2);
	}
	_exit(g.damaged ? 3 : 0);
}

static void test_a_forked_child_has_a_working_heap(void **state)
{
	pthread_t threads[THREADS];

	start(threads, THREADS, exchange_until_stopped);
	for (int round = 0; round < 30; round++) {
		pid_t pid = fork();

		if (pid == 0) {
			child_work();
		}
		assert_child_succeeds(pid);
	}
	g.stop = 1;
	join(threads, THREADS);
	drop_all();
	assert_int_equal(g.damaged, 0);
}

static void test_a_child_of_a_child_has_a_working_heap(void **state)
{
	pid_t pid = fork();

	if (pid == 0) {
		pid_t second = fork();
		int status;

		if (second == 0) {
			child_work();
		}
		_exit(second < 0 || waitpid(second, &status, 0) != second ||
			status != 0);
	}
	assert_child_succeeds(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			test_malloc_comes_from_the_library_under_test, reset),
		cmocka_unit_test_setup(
			test_blocks_pass_between_threads_unharmed, reset),
		cmocka_unit_test_setup(
			test_blocks_outlive_their_threads, reset),
		cmocka_unit_test_setup(
			test_thread_destructors_may_allocate, reset),
		cmocka_unit_test_setup(
			test_a_forked_child_has_a_working_heap, reset),
		cmocka_unit_test_setup(
			test_a_child_of_a_child_has_a_working_heap, reset),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
