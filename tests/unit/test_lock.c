/* SPDX-License-Identifier: MIT */
/* test_lock.c - exclusion, waiting, ranks, and life across fork. */
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lock.h"

enum { THREADS = 4, ROUNDS = 20000 };

static struct {
	struct lock lock;
	long plain; /* sync: lock */
} g = {.lock = LOCK_INIT(LOCK_RANK_HEAP)};

static void *count_up(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		lock_acquire(&g.lock);
		g.plain++;
		lock_release(&g.lock);
	}
	return arg;
}

static void test_lock_excludes(void **state)
{
	pthread_t threads[THREADS];

	g.plain = 0;
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(
			pthread_create(&threads[i], NULL, count_up, NULL), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
	}
	assert_int_equal(g.plain, (long)THREADS * ROUNDS);
	assert_int_equal(load_relaxed(&g.lock.state), LOCK_FREE);
}

static void test_lock_try_acquire_fails_when_held(void **state)
{
	assert_true(lock_try_acquire(&g.lock));
	assert_false(lock_try_acquire(&g.lock));
	lock_release(&g.lock);
	assert_true(lock_try_acquire(&g.lock));
	lock_release(&g.lock);
}

static void test_lock_is_usable_by_the_forking_thread(void **state)
{
	lock_fork_begin();
	lock_prefork(&g.lock);
	lock_acquire(&g.lock); /* a handler of the program allocates */
	lock_release(&g.lock);
	assert_int_equal(load_relaxed(&g.lock.state), LOCK_FORKING);
	lock_postfork(&g.lock);
	lock_fork_end();
	assert_int_equal(load_relaxed(&g.lock.state), LOCK_FREE);
}

static void test_lock_keeps_others_out_across_fork(void **state)
{
	pthread_t thread;

	g.plain = 0;
	lock_fork_begin();
	lock_prefork(&g.lock);
	pthread_create(&thread, NULL, count_up, NULL);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		lock_acquire(&g.lock);
		lock_release(&g.lock);
		lock_postfork(&g.lock);
		lock_fork_end();
		count_up(NULL);
		_exit(g.plain == ROUNDS ? 0 : 1);
	}
	assert_int_equal(g.plain, 0);
	lock_postfork(&g.lock);
	lock_fork_end();
	pthread_join(thread, NULL);

	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(g.plain, ROUNDS);
}

static void test_lock_aborts_on_falling_rank_in_debug_builds(void **state)
{
#ifdef NDEBUG
	skip();
#else
	struct lock owner = LOCK_INIT(LOCK_RANK_OWNER);
	pid_t child = fork();

	if (child == 0) {
		close(2);
		lock_acquire(&owner);
		lock_acquire(&g.lock);
		_exit(0);
	}

	int status;
	waitpid(child, &status, 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock_excludes),
		cmocka_unit_test(test_lock_try_acquire_fails_when_held),
		cmocka_unit_test(test_lock_is_usable_by_the_forking_thread),
		cmocka_unit_test(test_lock_keeps_others_out_across_fork),
		cmocka_unit_test(
			test_lock_aborts_on_falling_rank_in_debug_builds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
