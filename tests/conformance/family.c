/* SPDX-License-Identifier: MIT */
/*
 * family.c - each function of the malloc family, by itself, on one thread.
 *
 * Sources: malloc(3), posix_memalign(3), malloc_usable_size(3), mallopt(3),
 * mallinfo(3), malloc_trim(3), malloc_info(3) of the Linux man-pages; POSIX
 * 2024 (free keeps errno); C17 7.22.3 and DR 460; C23 7.24.3 (sized frees).
 */
#include <sys/resource.h>

#include "conformance.h"

/* Sizes on both sides of everything that may be a boundary. */
static const size_t sizes[] = {1, 2, 8, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65,
	127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025,
	2047, 2048, 2049, 4095, 4096, 4097, 5000, 8191, 8192, 8193, 16384,
	30000, 32767, 32768, 32769, 65535, 65536, 65537, 131071, 131072, 131073,
	262144, 262145, 524288, 1000000, 1048575, 1048576, 1048577, 3000000,
	4194304, 20000000};

/* Sizes that no allocator can give: sums with them wrap or exceed PTRDIFF_MAX.
 */
static const size_t impossible[] = {(size_t)PTRDIFF_MAX + 1,
	(size_t)PTRDIFF_MAX + 16, (size_t)PTRDIFF_MAX + 4096, SIZE_MAX / 4 * 3,
	SIZE_MAX - (1 << 22), SIZE_MAX - 65536, SIZE_MAX - 4096,
	SIZE_MAX - 4095, SIZE_MAX - 64, SIZE_MAX - 16, SIZE_MAX - 15,
	SIZE_MAX - 1, SIZE_MAX};

/*
 * Aligned for any object of this size (C17 7.22.3). That small blocks are
 * aligned to 16 as well is the claim of one test only.
 */
static void assert_suits(const void *ptr, size_t size)
{
	assert_aligned(ptr, size < 16 ? 8 : 16);
}

static void assert_refused(void *ptr)
{
	assert_null(ptr);
	assert_int_equal(errno, ENOMEM);
	errno = 0;
}

static void test_the_family_comes_from_the_library_under_test(void **state)
{
	static const char *const names[] = {"malloc", "free", "calloc",
		"realloc", "reallocarray", "memalign", "aligned_alloc",
		"posix_memalign", "valloc", "pvalloc", "malloc_usable_size",
		"mallopt", "mallinfo", "mallinfo2", "malloc_trim",
		"malloc_stats", "malloc_info"};

	for (size_t i = 0; i < COUNT(names); i++) {
		assert_interposed(names[i]);
	}
}

static void test_malloc_gives_aligned_writable_memory(void **state)
{
	for (size_t i = 0; i < COUNT(sizes); i++) {
		unsigned char *block = malloc(sizes[i]);

		assert_suits(block, sizes[i]);
		memset(block, 0x5a, sizes[i]);
		free(block);
	}
}

static void test_malloc_aligns_every_small_block_to_16(void **state)
{
	static void *blocks[64][130];

	for (size_t size = 1; size <= 130; size++) {
		for (size_t i = 0; i < 64; i++) {
			blocks[i][size - 1] = malloc(size);
			assert_aligned(blocks[i][size - 1], 16);
		}
	}
	for (size_t size = 1; size <= 130; size++) {
		for (size_t i = 0; i < 64; i++) {
			free(blocks[i][size - 1]);
		}
	}
}

static void test_malloc_of_zero_gives_a_unique_block(void **state)
{
	void *blocks[32];

	for (size_t i = 0; i < COUNT(blocks); i++) {
		blocks[i] = malloc(0);
		assert_non_null(blocks[i]);
		for (size_t k = 0; k < i; k++) {
			assert_ptr_not_equal(blocks[i], blocks[k]);
		}
	}
	for (size_t i = 0; i < COUNT(blocks); i++) {
		free(blocks[i]);
	}
}

static void test_live_blocks_do_not_overlap(void **state)
{
	static unsigned char *blocks[COUNT(sizes)][3];

	for (size_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < COUNT(sizes); i++) {
			blocks[i][k] = malloc(sizes[i]);
			assert_non_null(blocks[i][k]);
			memset(blocks[i][k], (int)(3 * i + k), sizes[i]);
		}
	}
	for (size_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < COUNT(sizes); i++) {
			assert_filled(blocks[i][k], sizes[i],
				(unsigned char)(3 * i + k));
			free(blocks[i][k]);
		}
	}
}

static void test_malloc_refuses_impossible_sizes(void **state)
{
	errno = 0;
	for (size_t i = 0; i < COUNT(impossible); i++) {
		assert_refused(malloc(impossible[i]));
	}
}

static void test_malloc_keeps_errno_on_success(void **state)
{
	for (size_t i = 0; i < COUNT(sizes); i++) {
		errno = 12345;
		void *block = malloc(sizes[i]);
		assert_int_equal(errno, 12345);
		free(block);
	}
}

static void test_free_of_null_does_nothing(void **state)
{
	free(NULL);
}

static void test_free_keeps_errno(void **state)
{
	for (size_t i = 0; i < COUNT(sizes); i++) {
		void *block = malloc(sizes[i]);
		void *aligned = aligned_alloc(4096, sizes[i]);

		errno = 12345;
		free(block);
		free(aligned);
		free(NULL);
		assert_int_equal(errno, 12345);
	}
}

static void test_calloc_gives_zeros_also_from_recycled_memory(void **state)
{
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < COUNT(sizes); i++) {
			unsigned char *block = calloc(1, sizes[i]);

			assert_suits(block, sizes[i]);
			assert_filled(block, sizes[i], 0);
			memset(block, 0xff, sizes[i]);
			free(block);
			block = malloc(sizes[i]);
			memset(block, 0xff, sizes[i]);
			free(block);
		}
	}
}

static void test_calloc_multiplies(void **state)
{
	unsigned char *block = calloc(1000, 37);

	assert_true(malloc_usable_size(block) >= 37000);
	assert_filled(block, 37000, 0);
	free(block);
}

static void test_calloc_with_a_zero_gives_a_unique_block(void **state)
{
	void *a = calloc(0, 8), *b = calloc(8, 0), *c = calloc(0, SIZE_MAX);

	assert_non_null(a);
	assert_non_null(b);
	assert_non_null(c);
	assert_true(a != b && b != c && a != c);
	free(a);
	free(b);
	free(c);
}

static void test_calloc_refuses_a_product_that_overflows(void **state)
{
	static const size_t pairs[][2] = {{SIZE_MAX, 2}, {2, SIZE_MAX},
		{SIZE_MAX, SIZE_MAX}, {SIZE_MAX / 2 + 1, 2},
		{(size_t)1 << 32, (size_t)1 << 32}, {SIZE_MAX / 16 + 2, 16}};

	errno = 0;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		assert_refused(calloc(pairs[i][0], pairs[i][1]));
	}
	for (size_t i = 0; i < COUNT(impossible); i++) {
		assert_refused(calloc(1, impossible[i]));
	}
}

static void test_realloc_of_null_is_malloc(void **state)
{
	for (size_t i = 0; i < COUNT(sizes); i++) {
		unsigned char *block = realloc(NULL, sizes[i]);

		assert_suits(block, sizes[i]);
		memset(block, 1, sizes[i]);
		free(block);
	}
	void *empty = realloc(NULL, 0);
	assert_non_null(empty);
	free(empty);
}

static void test_realloc_to_zero_frees_and_returns_null(void **state)
{
	assert_null(realloc(malloc(100), 0));
	assert_null(realloc(malloc(1000000), 0));
	assert_null(realloc(malloc(0), 0));
}

static void test_realloc_keeps_the_contents(void **state)
{
	for (size_t i = 0; i < COUNT(sizes); i++) {
		for (size_t k = 0; k < COUNT(sizes); k += 1 + i % 3) {
			size_t from = sizes[i], to = sizes[k];
			unsigned char *block = malloc(from);

			memset(block, 0x3c, from);
			block = realloc(block, to);
			assert_suits(block, to);
			assert_filled(block, from < to ? from : to, 0x3c);
			memset(block, 0xc3, to);
			free(block);
		}
	}
}

static void test_realloc_copies_all_usable_bytes(void **state)
{
	for (size_t i = 0; i < COUNT(sizes); i++) {
		unsigned char *block = malloc(sizes[i]);
		size_t usable = malloc_usable_size(block);

		memset(block, 0x3c, usable);
		block = realloc(block, 2 * usable);
		assert_filled(block, usable, 0x3c);
		free(block);
	}
}

static void test_realloc_that_fails_keeps_the_block(void **state)
{
	for (size_t i = 0; i < COUNT(sizes); i++) {
		unsigned char *block = malloc(sizes[i]);

		memset(block, 0x3c, sizes[i]);
		errno = 0;
		assert_refused(realloc(block, impossible[i % 13]));
		assert_filled(block, sizes[i], 0x3c);
		free(block);
	}
}

static void test_reallocarray_multiplies_with_a_check(void **state)
{
	unsigned char *block = reallocarray(NULL, 10, 10);

	assert_non_null(block);
	memset(block, 0x3c, 100);
	errno = 0;
	assert_refused(reallocarray(block, SIZE_MAX / 4, 8));
	assert_refused(reallocarray(block, SIZE_MAX, SIZE_MAX));
	assert_filled(block, 100, 0x3c);
	block = reallocarray(block, 100, 100);
	assert_true(malloc_usable_size(block) >= 10000);
	assert_filled(block, 100, 0x3c);
	assert_null(reallocarray(block, 0, 8));
}

static void test_posix_memalign_aligns(void **state)
{
	for (size_t align = sizeof(void *); align <= (size_t)1 << 24;
		align *= 2) {
		for (size_t i = 0; i < COUNT(sizes); i += 3) {
			void *block = NULL;

			assert_int_equal(
				posix_memalign(&block, align, sizes[i]), 0);
			assert_aligned(block, align);
			memset(block, 1, sizes[i]);
			free(block);
		}
	}
}

static void test_posix_memalign_of_zero_gives_a_block(void **state)
{
	void *block = NULL;

	assert_int_equal(posix_memalign(&block, 64, 0), 0);
	assert_aligned(block, 64);
	free(block);
}

static void test_posix_memalign_refuses_bad_alignments(void **state)
{
	static const size_t bad[] = {0, 1, 2, 3, 4, 7, 12, 24, 48, 100, 4095,
		SIZE_MAX, SIZE_MAX - 7, ((size_t)1 << 63) | 8};

	for (size_t i = 0; i < COUNT(bad); i++) {
		void *block = (void *)0xabc0;

		errno = 12345;
		assert_int_equal(posix_memalign(&block, bad[i], 8), EINVAL);
		assert_ptr_equal(block, (void *)0xabc0);
		assert_int_equal(errno, 12345);
	}
}

static void test_posix_memalign_that_fails_keeps_its_argument(void **state)
{
	for (size_t i = 0; i < COUNT(impossible); i++) {
		void *block = (void *)0xabc0;

		assert_int_equal(
			posix_memalign(&block, 64, impossible[i]), ENOMEM);
		assert_ptr_equal(block, (void *)0xabc0);
	}
}

static void test_aligned_alloc_takes_any_size(void **state)
{
	for (size_t align = 1; align <= (size_t)1 << 22; align *= 2) {
		for (size_t i = 0; i < COUNT(sizes); i += 2) {
			void *block = aligned_alloc(align, sizes[i]);

			assert_aligned(block, align);
			assert_true(malloc_usable_size(block) >= sizes[i]);
			memset(block, 1, sizes[i]);
			free(block);
		}
	}
}

static void test_aligned_calls_refuse_impossible_sizes(void **state)
{
	errno = 0;
	for (size_t i = 0; i < COUNT(impossible); i++) {
		for (size_t align = 16; align <= (size_t)1 << 20; align *= 4) {
			assert_refused(aligned_alloc(align, impossible[i]));
			assert_refused(memalign(align, impossible[i]));
		}
		assert_refused(valloc(impossible[i]));
		assert_refused(pvalloc(impossible[i]));
	}
}

static void test_a_bad_alignment_is_refused_or_rounded_up(void **state)
{
	static const size_t bad[] = {3, 24, 48, 1000, 4097};

	for (size_t i = 0; i < COUNT(bad); i++) {
		errno = 0;
		void *block = memalign(bad[i], 100);
		if (!block) {
			assert_int_equal(errno, EINVAL);
			continue;
		}
		/* glibc: the next power of two */
		size_t align = 1;
		while (align < bad[i]) {
			align *= 2;
		}
		assert_aligned(block, align);
		free(block);
	}
	errno = 0;
	assert_null(memalign(((size_t)1 << 63) | 16, 100));
	assert_int_equal(errno, EINVAL);
}

static void test_valloc_and_pvalloc_give_whole_pages(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < COUNT(sizes); i++) {
		void *block = valloc(sizes[i]), *whole = pvalloc(sizes[i]);

		assert_aligned(block, page);
		assert_aligned(whole, page);
		assert_true(malloc_usable_size(whole) >=
			    (sizes[i] + page - 1) / page * page);
		memset(whole, 1, (sizes[i] + page - 1) / page * page);
		free(block);
		free(whole);
	}
}

static void test_realloc_takes_aligned_blocks(void **state)
{
	for (size_t align = 32; align <= (size_t)1 << 20; align *= 4) {
		for (size_t i = 0; i < COUNT(sizes); i += 2) {
			unsigned char *block = aligned_alloc(align, sizes[i]);

			memset(block, 0x3c, sizes[i]);
			block = realloc(block, 2 * sizes[i]);
			assert_suits(block, 2 * sizes[i]);
			assert_filled(block, sizes[i], 0x3c);
			block = realloc(block, sizes[i] / 2 + 1);
			assert_filled(block, sizes[i] / 2 + 1, 0x3c);
			free(block);
		}
	}
}

static void test_usable_size_of_null_is_zero(void **state)
{
	assert_int_equal(malloc_usable_size(NULL), 0);
}

static void test_usable_size_is_writable_and_stable(void **state)
{
	static unsigned char *blocks[COUNT(sizes)];
	size_t usable[COUNT(sizes)];

	for (size_t i = 0; i < COUNT(sizes); i++) {
		blocks[i] = malloc(sizes[i]);
		usable[i] = malloc_usable_size(blocks[i]);
		assert_true(usable[i] >= sizes[i]);
		memset(blocks[i], (int)i, usable[i]);
	}
	for (size_t i = 0; i < COUNT(sizes); i++) {
		assert_int_equal(malloc_usable_size(blocks[i]), usable[i]);
		assert_filled(blocks[i], usable[i], (unsigned char)i);
		free(blocks[i]);
	}
}

/* Absent from plain glibc before 2.43: then there is nothing to check. */
static void test_sized_frees_take_what_was_asked_for(void **state)
{
	void (*sized)(void *, size_t) =
		(void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "free_sized");
	void (*aligned)(void *, size_t, size_t) = (void (*)(void *, size_t,
		size_t))dlsym(RTLD_DEFAULT, "free_aligned_sized");

	if (!sized || !aligned) {
		skip();
	}
	for (size_t i = 0; i < COUNT(sizes); i++) {
		errno = 12345;
		sized(malloc(sizes[i]), sizes[i]);
		sized(calloc(1, sizes[i]), sizes[i]);
		sized(realloc(malloc(1), sizes[i]), sizes[i]);
		aligned(aligned_alloc(64, sizes[i]), 64, sizes[i]);
		aligned(aligned_alloc(8192, sizes[i]), 8192, sizes[i]);
		assert_int_equal(errno, 12345);
	}
	sized(malloc(0), 0);
	sized(NULL, 5);
	aligned(NULL, 64, 5);
}

static void test_mallopt_answers_without_harm(void **state)
{
	void *block = malloc(1000);

	assert_in_range(mallopt(M_MMAP_THRESHOLD, 1 << 20), 0, 1);
	assert_in_range(mallopt(M_TRIM_THRESHOLD, 1 << 20), 0, 1);
	assert_in_range(mallopt(M_ARENA_MAX, 2), 0, 1);
	mallopt(-12345, 7);
	block = realloc(block, 100000);
	assert_non_null(block);
	free(block);
}

static void test_malloc_trim_returns_zero_or_one(void **state)
{
	static void *blocks[5000];

	for (size_t i = 0; i < COUNT(blocks); i++) {
		blocks[i] = malloc(1000);
		memset(blocks[i], 1, 1000);
	}
	for (size_t i = 0; i < COUNT(blocks); i++) {
		free(blocks[i]);
	}
	assert_in_range(malloc_trim(0), 0, 1);
	assert_in_range(malloc_trim(1 << 20), 0, 1);
	void *block = malloc(1000);
	assert_non_null(block);
	free(block);
}

static void test_malloc_info_writes_a_document(void **state)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	assert_non_null(stream);
	assert_int_equal(malloc_info(0, stream), 0);
	fclose(stream);
	assert_int_equal(strncmp(text, "<malloc", 7), 0);
	assert_non_null(strstr(text, "</malloc>"));
	free(text);
}

static void test_malloc_info_refuses_unknown_options(void **state)
{
	assert_int_not_equal(malloc_info(7, stderr), 0);
}

/*
 * RLIMIT_DATA, because it counts what is writable: an allocator may have
 * reserved address space before the limit was set.
 */
static void test_memory_runs_out_softly_and_comes_back(void **state)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct rlimit limit = {(size_t)1 << 30, (size_t)1 << 30};
		size_t size = 1 << 18, count = 0;
		void **head = NULL, **block;

		if (setrlimit(RLIMIT_DATA, &limit)) {
			_exit(2);
		}
		errno = 0;
		while (count < 5000 && (block = malloc(size))) {
			*block = head;
			head = block;
			count++;
		}
		if (errno != ENOMEM || count < 400 || count > 4096) {
			_exit(3);
		}
		if (realloc(head, 1 << 30) || errno != ENOMEM) {
			_exit(4);
		}
		while (head) {
			block = *head;
			free(head);
			head = block;
		}
		if (!malloc(1 << 20) || !malloc(64)) {
			_exit(5);
		}
		_exit(0);
	}
	assert_child_succeeds(pid);
}

/* Every function, in random order, against a model of the live blocks. */
static void test_a_random_mixture_keeps_every_block(void **state)
{
	enum { SLOTS = 300, STEPS = 150000 };
	static struct {
		unsigned char *block;
		size_t size;
		unsigned char value;
	} slots[SLOTS];
	unsigned seed = 20260101;

	for (int step = 0; step < STEPS; step++) {
		size_t i = random_next(&seed) % SLOTS;
		size_t size = 1 + random_next(&seed) %
					  (step % 97 ? step % 7 ? 300 : 9000
						     : 900000);
		size_t kept = 0;
		void *block = NULL;

		switch (random_next(&seed) % 8) {
		case 0:
			block = calloc(1, size);
			assert_filled(block, size, 0);
			break;
		case 1:
			block = aligned_alloc(
				(size_t)16 << random_next(&seed) % 10, size);
			break;
		case 2:
			assert_int_equal(posix_memalign(&block, 64, size), 0);
			break;
		case 3:
		case 4:
			if (slots[i].block) {
				kept = slots[i].size < size ? slots[i].size
							    : size;
				block = realloc(slots[i].block, size);
				assert_filled(block, kept, slots[i].value);
				slots[i].block = NULL;
				break;
			}
			/* fall through */
		default:
			block = malloc(size);
			break;
		}
		assert_suits(block, size);
		if (slots[i].block) {
			assert_filled(
				slots[i].block, slots[i].size, slots[i].value);
			free(slots[i].block);
		}
		slots[i].block = block;
		slots[i].size = size;
		slots[i].value = (unsigned char)random_next(&seed);
		memset(block, slots[i].value, size);
	}
	for (int i = 0; i < SLOTS; i++) {
		if (slots[i].block) {
			assert_filled(
				slots[i].block, slots[i].size, slots[i].value);
			free(slots[i].block);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_the_family_comes_from_the_library_under_test),
		cmocka_unit_test(test_malloc_gives_aligned_writable_memory),
		cmocka_unit_test(test_malloc_aligns_every_small_block_to_16),
		cmocka_unit_test(test_malloc_of_zero_gives_a_unique_block),
		cmocka_unit_test(test_live_blocks_do_not_overlap),
		cmocka_unit_test(test_malloc_refuses_impossible_sizes),
		cmocka_unit_test(test_malloc_keeps_errno_on_success),
		cmocka_unit_test(test_free_of_null_does_nothing),
		cmocka_unit_test(test_free_keeps_errno),
		cmocka_unit_test(
			test_calloc_gives_zeros_also_from_recycled_memory),
		cmocka_unit_test(test_calloc_multiplies),
		cmocka_unit_test(test_calloc_with_a_zero_gives_a_unique_block),
		cmocka_unit_test(test_calloc_refuses_a_product_that_overflows),
		cmocka_unit_test(test_realloc_of_null_is_malloc),
		cmocka_unit_test(test_realloc_to_zero_frees_and_returns_null),
		cmocka_unit_test(test_realloc_keeps_the_contents),
		cmocka_unit_test(test_realloc_copies_all_usable_bytes),
		cmocka_unit_test(test_realloc_that_fails_keeps_the_block),
		cmocka_unit_test(test_reallocarray_multiplies_with_a_check),
		cmocka_unit_test(test_posix_memalign_aligns),
		cmocka_unit_test(test_posix_memalign_of_zero_gives_a_block),
		cmocka_unit_test(test_posix_memalign_refuses_bad_alignments),
		cmocka_unit_test(
			test_posix_memalign_that_fails_keeps_its_argument),
		cmocka_unit_test(test_aligned_alloc_takes_any_size),
		cmocka_unit_test(test_aligned_calls_refuse_impossible_sizes),
		cmocka_unit_test(test_a_bad_alignment_is_refused_or_rounded_up),
		cmocka_unit_test(test_valloc_and_pvalloc_give_whole_pages),
		cmocka_unit_test(test_realloc_takes_aligned_blocks),
		cmocka_unit_test(test_usable_size_of_null_is_zero),
		cmocka_unit_test(test_usable_size_is_writable_and_stable),
		cmocka_unit_test(test_sized_frees_take_what_was_asked_for),
		cmocka_unit_test(test_mallopt_answers_without_harm),
		cmocka_unit_test(test_malloc_trim_returns_zero_or_one),
		cmocka_unit_test(test_malloc_info_writes_a_document),
		cmocka_unit_test(test_malloc_info_refuses_unknown_options),
		cmocka_unit_test(test_memory_runs_out_softly_and_comes_back),
		cmocka_unit_test(test_a_random_mixture_keeps_every_block),
	};

	return cmocka_run_group_tests_name("family", tests, NULL, NULL);
}
