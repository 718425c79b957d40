/* SPDX-License-Identifier: MIT */
/*
 * Traces made to order, loaded: the counts, the order between threads, and
 * what is left of damaged files.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "traceload.h"
#include "tracewrite.h"
#include "unit.h"

#define TICK 4000000u
#define BASE 0x7f0000001000u

static char path[] = "/tmp/test_trace_load.XXXXXX";
static struct tracewrite w;
static struct trace trace;

static const uint64_t frames[3] = {0x401020, 0x401100, 0x400500};
static const uint64_t others[3] = {0x401050, 0x401100, 0x400500};

static void begin(uint32_t mode)
{
	tracewrite_begin(&w, path, mode, 4096);
	tracewrite_load(
		&w, 1, 1, 0, 0x400000, 0x402000, "/bin/prog", "\1\2\3\4", 4);
	tracewrite_stack(&w, 1, 1, frames, 3);
	tracewrite_stack(&w, 2, 1, others, 3);
}

static void load(void)
{
	assert_true(trace_load(&trace, path));
}

static const struct site *site_of(uint32_t stack)
{
	for (uint32_t i = 1; i < trace.account.site_count; i++) {
		if (trace.account.sites[i].stack == stack) {
			return &trace.account.sites[i];
		}
	}
	fail_msg("no site of stack %u", stack);
	return NULL;
}

static void end_and_load(void)
{
	tracewrite_end(&w, AMUX_TRACE_FINISHED);
	load();
	assert_false(damage_any(&trace.damage));
}

static void test_counts_are_exact(void **state)
{
	const struct totals *t = &trace.account.total;

	begin(AMUX_TRACE_RECORD);
	tracewrite_alloc(&w, 0, AMUX_TRACE_MALLOC, 1, 100, 12, BASE);
	tracewrite_free(&w, 0, BASE); /* temporary */
	tracewrite_alloc(&w, 0, AMUX_TRACE_MALLOC, 1, 200, 8, BASE);
	tracewrite_alloc(&w, 0, AMUX_TRACE_CALLOC, 2, 50, 6, BASE + 512);
	w.ns = 10 * TICK;
	tracewrite_free(&w, 0, BASE);
	tracewrite_failed(&w, 0, 2, 1 << 30);
	end_and_load();
	assert_int_equal(t->allocs, 3);
	assert_int_equal(t->frees, 2);
	assert_int_equal(t->bytes, 350);
	assert_int_equal(t->usable, 376);
	assert_int_equal(t->live_bytes, 50);
	assert_int_equal(t->peak_bytes, 250);
	assert_int_equal(t->temporary, 1);
	assert_int_equal(t->failed, 1);
	assert_int_equal(site_of(1)->allocs, 2);
	assert_int_equal(site_of(1)->live_bytes, 0);
	assert_int_equal(site_of(1)->at_peak, 200);
	assert_int_equal(site_of(1)->peak_bytes, 200);
	assert_int_equal(site_of(1)->lifetimes[0], 1);
	assert_int_equal(site_of(1)->lifetimes[3], 1); /* 40 ms */
	assert_int_equal(site_of(2)->at_peak, 50);
	assert_int_equal(site_of(2)->failed, 1);
	assert_int_equal(trace.account.sizes[7].allocs, 1); /* 64 to 127 */
	trace_unload(&trace);
}

static void test_realloc_moves_and_may_fail(void **state)
{
	begin(AMUX_TRACE_RECORD);
	tracewrite_alloc(&w, 0, AMUX_TRACE_MALLOC, 1, 100, 0, BASE);
	tracewrite_realloc(&w, 0, BASE);
	tracewrite_realloc_fail(&w, 0);
	tracewrite_realloc(&w, 0, BASE);
	w.ns = TICK;
	tracewrite_flush(&w, 0);
	tracewrite_alloc(&w, 0, AMUX_TRACE_REALLOCED, 2, 300, 0, BASE + 512);
	end_and_load();
	assert_int_equal(trace.account.total.allocs, 2);
	assert_int_equal(trace.account.total.frees, 1);
	assert_int_equal(trace.account.total.reallocs, 1);
	assert_int_equal(trace.account.total.peak_bytes, 300);
	assert_int_equal(site_of(1)->live_bytes, 0);
	assert_int_equal(site_of(2)->live_bytes, 300);
	trace_unload(&trace);
}

/* Thread 2 reuses what thread 1 freed, but its lane is read first. */
static void test_reuse_between_threads_is_ordered(void **state)
{
	begin(AMUX_TRACE_RECORD);
	tracewrite_alloc(&w, 0, AMUX_TRACE_MALLOC, 1, 100, 0, BASE);
	for (int i = 0; i < 1000; i++) {
		tracewrite_free(&w, i & 1, BASE);
		tracewrite_alloc(&w, ~i & 1, AMUX_TRACE_MALLOC, 2, 10, 0, BASE);
		w.ns += TICK / 50;
	}
	end_and_load();
	assert_int_equal(trace.account.total.frees, 1000);
	assert_int_equal(trace.account.total.unknown_frees, 0);
	assert_int_equal(trace.account.total.replaced, 0);
	assert_int_equal(trace.account.total.live_bytes, 10);
	assert_int_equal(trace.account.total.peak_bytes, 100);
	trace_unload(&trace);
}

static void test_unknown_frees_are_ignored(void **state)
{
	begin(AMUX_TRACE_RECORD);
	tracewrite_free(&w, 0, BASE);
	tracewrite_free(&w, 1, BASE + 64);
	w.ns = 20 * TICK;
	tracewrite_alloc(&w, 1, AMUX_TRACE_MALLOC, 1, 10, 0, BASE);
	end_and_load();
	assert_int_equal(trace.account.total.unknown_frees, 2);
	assert_int_equal(trace.account.total.live_bytes, 10);
	trace_unload(&trace);
}

static void test_an_end_that_is_missing_replaces(void **state)
{
	begin(AMUX_TRACE_RECORD);
	tracewrite_alloc(&w, 0, AMUX_TRACE_MALLOC, 1, 10, 0, BASE);
	tracewrite_alloc(&w, 0, AMUX_TRACE_MALLOC, 2, 20, 0, BASE);
	end_and_load();
	assert_int_equal(trace.account.total.replaced, 1);
	assert_int_equal(site_of(1)->live_bytes, 0);
	assert_int_equal(site_of(2)->live_bytes, 20);
	trace_unload(&trace);
}

static void test_stacks_become_one_tree(void **state)
{
	const struct stack_node *node;

	begin(AMUX_TRACE_RECORD);
	tracewrite_alloc(&w, 0, AMUX_TRACE_MALLOC, 1, 1, 0, BASE);
	tracewrite_alloc(&w, 0, AMUX_TRACE_MALLOC, 2, 1, 0, BASE + 64);
	end_and_load();
	assert_int_equal(trace.trie.count, 5); /* root, two shared, two */
	node = &trace.trie.nodes[site_of(2)->node];
	assert_int_equal(frame_object(node->frame), 1);
	assert_int_equal(frame_addr(node->frame), 0x40104f);
	assert_string_equal(trace.info.objects[0].path, "/bin/prog");
	trace_unload(&trace);
}

static void test_samples_stand_for_many(void **state)
{
	const struct site *site;

	begin(AMUX_TRACE_SAMPLE);
	for (int i = 0; i < 100; i++) {
		tracewrite_alloc(&w, 0, AMUX_TRACE_MALLOC, 1, 1024, 0,
			BASE + 1024 * (unsigned)i);
	}
	end_and_load();
	site = site_of(1);
	assert_int_equal(site->samples, 100);
	/* 1 / (1 - exp(-1/512)) = 512.5 */
	assert_in_range(site->allocs, 51240, 51260);
	assert_in_range(site->bytes, 51240 * 1024, 51260 * 1024);
	trace_unload(&trace);
}

static void test_profiles_are_taken_as_they_are(void **state)
{
	struct amux_trace_site sites[2] = {
		{.stack = 1,
			.allocs = 7,
			.frees = 6,
			.bytes = 70,
			.live_bytes = 10,
			.at_peak = 30,
			.changed_peak = 60},
		{.stack = 2,
			.allocs = 1,
			.bytes = 30,
			.live_bytes = 30,
			.at_peak = 5,
			.changed_peak = 50},
	};

	begin(AMUX_TRACE_PROFILE);
	w.header.total_peak = 60;
	tracewrite_sites(&w, 0, sites, 2);
	tracewrite_sites(&w, 1, sites, 2); /* a snapshot */
	end_and_load();
	assert_int_equal(trace.account.total.allocs, 8);
	assert_int_equal(trace.account.total.peak_bytes, 60);
	assert_int_equal(site_of(1)->at_peak, 30);
	assert_int_equal(site_of(2)->at_peak, 30);
	trace_unload(&trace);
}

/* Two lanes in many blocks: addresses never repeat. */
static void write_many(uint32_t state)
{
	begin(AMUX_TRACE_RECORD);
	for (unsigned i = 0; i < 20000; i++) {
		tracewrite_alloc(&w, (int)(i & 1), AMUX_TRACE_MALLOC, 1 + i % 2,
			16 + i % 100, 0, BASE + 128 * (uint64_t)i);
		w.ns += 10000;
	}
	tracewrite_end(&w, state);
}

static void test_a_killed_process_leaves_all(void **state)
{
	write_many(AMUX_TRACE_RUNNING);
	load();
	assert_false(damage_any(&trace.damage));
	assert_int_equal(trace.account.total.allocs, 20000);
	trace_unload(&trace);
}

static void test_a_cut_file_shows_the_rest(void **state)
{
	struct stat info;

	write_many(AMUX_TRACE_FINISHED);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(truncate(path, info.st_size / 2 + 100), 0);
	load();
	assert_true(damage_any(&trace.damage));
	assert_int_not_equal(trace.damage.cut, 0);
	assert_in_range(trace.account.total.allocs, 8000, 12000);
	trace_unload(&trace);
}

static void overwrite(off_t at, size_t size, int byte)
{
	int fd = open(path, O_WRONLY);
	char bytes[4096];

	memset(bytes, byte, sizeof(bytes));
	assert_true(fd >= 0 && size <= sizeof(bytes));
	assert_int_equal(pwrite(fd, bytes, size, at), size);
	close(fd);
}

static void test_a_broken_block_is_left_out(void **state)
{
	write_many(AMUX_TRACE_FINISHED);
	overwrite(4096 * 3, 64, 0xff);
	load();
	assert_int_equal(trace.damage.blocks, 1);
	assert_int_equal(trace.damage.gaps, 1);
	assert_in_range(trace.account.total.allocs, 18000, 19999);
	trace_unload(&trace);
}

static void test_broken_events_end_their_block_only(void **state)
{
	write_many(AMUX_TRACE_FINISHED);
	overwrite(4096 * 3 + 64 + 100, 300, 0xff);
	load();
	assert_int_equal(trace.damage.events, 1);
	assert_in_range(trace.account.total.allocs, 18000, 19999);
	trace_unload(&trace);
}

static void test_a_lost_header_is_guessed(void **state)
{
	write_many(AMUX_TRACE_FINISHED);
	overwrite(0, 256, 0);
	load();
	assert_int_equal(trace.damage.header, 1);
	assert_int_equal(trace.account.total.allocs, 20000);
	trace_unload(&trace);
}

/* The file at `path` as zstd frames of `blocks` blocks; 0: one frame. */
static void compress_file(size_t blocks)
{
	struct stat info;
	FILE *file = fopen(path, "r");
	uint8_t *bytes;
	size_t step;

	assert_non_null(file);
	assert_int_equal(stat(path, &info), 0);
	bytes = malloc((size_t)info.st_size);
	assert_int_equal(
		fread(bytes, 1, (size_t)info.st_size, file), info.st_size);
	fclose(file);
	file = fopen(path, "w");
	step = blocks > 0 ? blocks * 4096 : (size_t)info.st_size;
	for (size_t at = 0; at < (size_t)info.st_size; at += step) {
		size_t left = (size_t)info.st_size - at;
		size_t size = left < step ? left : step;
		size_t room = ZSTD_compressBound(size);
		void *out = malloc(room);
		size_t n = ZSTD_compress(out, room, bytes + at, size, 1);

		assert_int_equal(fwrite(out, 1, n, file), n);
		free(out);
	}
	free(bytes);
	assert_int_equal(fclose(file), 0);
}

static void test_compressed_traces_are_the_same(void **state)
{
	write_many(AMUX_TRACE_FINISHED);
	compress_file(7);
	load();
	assert_false(damage_any(&trace.damage));
	assert_int_equal(trace.account.total.allocs, 20000);
	trace_unload(&trace);
}

static void test_a_cut_compressed_trace_shows_the_rest(void **state)
{
	struct stat info;

	write_many(AMUX_TRACE_FINISHED);
	compress_file(7);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(truncate(path, info.st_size / 2), 0);
	load();
	assert_true(damage_any(&trace.damage));
	assert_in_range(trace.account.total.allocs, 5000, 15000);
	trace_unload(&trace);
}

static void test_a_broken_frame_is_left_out(void **state)
{
	struct stat info;

	write_many(AMUX_TRACE_FINISHED);
	compress_file(3);
	assert_int_equal(stat(path, &info), 0);
	overwrite(info.st_size / 2, 200, 0xff);
	load();
	assert_int_not_equal(trace.damage.frames, 0);
	assert_in_range(trace.account.total.allocs, 10000, 19999);
	trace_unload(&trace);
}

static void test_foreign_files_are_refused(void **state)
{
	FILE *file = fopen(path, "w");

	fputs("v 10400 2\nX /bin/true\n", file);
	fclose(file);
	assert_false(trace_load(&trace, path));
	file = fopen(path, "w");
	fclose(file);
	assert_false(trace_load(&trace, path));
	assert_false(trace_load(&trace, "/nonexistent"));
	assert_false(trace_load(&trace, "/"));
}

static void test_other_major_versions_are_refused(void **state)
{
	write_many(AMUX_TRACE_FINISHED);
	overwrite(8, 1, 9);
	assert_false(trace_load(&trace, path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_are_exact),
		cmocka_unit_test(test_realloc_moves_and_may_fail),
		cmocka_unit_test(test_reuse_between_threads_is_ordered),
		cmocka_unit_test(test_unknown_frees_are_ignored),
		cmocka_unit_test(test_an_end_that_is_missing_replaces),
		cmocka_unit_test(test_stacks_become_one_tree),
		cmocka_unit_test(test_samples_stand_for_many),
		cmocka_unit_test(test_profiles_are_taken_as_they_are),
		cmocka_unit_test(test_a_killed_process_leaves_all),
		cmocka_unit_test(test_a_cut_file_shows_the_rest),
		cmocka_unit_test(test_a_broken_block_is_left_out),
		cmocka_unit_test(test_broken_events_end_their_block_only),
		cmocka_unit_test(test_a_lost_header_is_guessed),
		cmocka_unit_test(test_compressed_traces_are_the_same),
		cmocka_unit_test(test_a_cut_compressed_trace_shows_the_rest),
		cmocka_unit_test(test_a_broken_frame_is_left_out),
		cmocka_unit_test(test_foreign_files_are_refused),
		cmocka_unit_test(test_other_major_versions_are_refused),
	};
	int fd = mkstemp(path);
	int failed;

	assert_true(fd >= 0);
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
