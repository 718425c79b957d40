/* SPDX-License-Identifier: MIT */
/* test_elfsym.c - symbols of loaded objects, checked against dlsym. */
#include "unit.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "elfsym.h"

static void test_elfsym_finds_libc(void **state)
{
	struct elf_object libc;
	Dl_info info;

	assert_true(elf_find_libc(&libc));
	assert_string_equal(libc.soname, "libc.so.6");
	assert_true(dladdr(dlsym(RTLD_DEFAULT, "getpid"), &info));
	assert_ptr_equal((void *)libc.base, info.dli_fbase);
}

static void test_elfsym_agrees_with_dlsym(void **state)
{
	static const char *const names[] = {"malloc", "free", "realloc",
		"malloc_usable_size", "posix_memalign", "strtol", "qsort",
		"pthread_create"};
	void *handle = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	struct elf_object libc;

	assert_true(elf_find_libc(&libc));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *expected = dlsym(handle, names[i]);
		struct elf_object home;

		/* A sanitizer may answer with its own. */
		if (elf_find_by_address(expected, &home) &&
			home.base == libc.base) {
			assert_ptr_equal(elf_symbol(&libc, names[i]), expected);
		} else {
			assert_non_null(elf_symbol(&libc, names[i]));
		}
	}
}

static void test_elfsym_is_null_for_what_is_not_defined(void **state)
{
	struct elf_object libc;

	assert_true(elf_find_libc(&libc));
	assert_null(elf_symbol(&libc, "no_such_function"));
	assert_null(elf_symbol(&libc, ""));
	/* Imported by libc, defined by the loader. */
	assert_null(elf_symbol(&libc, "_dl_argv"));
}

static void test_elfsym_finds_the_object_of_an_address(void **state)
{
	struct elf_object self;

	assert_true(elf_find_by_address((void *)test_elfsym_finds_libc, &self));
	assert_true((uintptr_t)test_elfsym_finds_libc >= self.code_start);
	assert_true((uintptr_t)test_elfsym_finds_libc < self.code_end);
	assert_false(elf_find_by_address(NULL, &self));
	assert_false(elf_find_by_address((void *)16, &self));
}

static int count_object(const struct elf_object *object, void *arg)
{
	++*(int *)arg;
	return 0;
}

static int stop_at_once(const struct elf_object *object, void *arg)
{
	++*(int *)arg;
	return 42;
}

static void test_elfsym_visits_until_told_to_stop(void **state)
{
	int all = 0, one = 0;

	assert_int_equal(elf_for_each(count_object, &all), 0);
	assert_true(all > 1);
	assert_int_equal(elf_for_each(stop_at_once, &one), 42);
	assert_int_equal(one, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elfsym_finds_libc),
		cmocka_unit_test(test_elfsym_agrees_with_dlsym),
		cmocka_unit_test(test_elfsym_is_null_for_what_is_not_defined),
		cmocka_unit_test(test_elfsym_finds_the_object_of_an_address),
		cmocka_unit_test(test_elfsym_visits_until_told_to_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
