// SPDX-License-Identifier: MIT
//
// operators.cc - operator new and delete over the malloc family.
//
// The preload exports none of them: the C++ library's forms call malloc and
// free, and loop over the new_handler as [new.delete] says.
#include <new>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "conformance.h"
}

namespace
{

volatile std::size_t impossible = static_cast<std::size_t>(1) << 62;
// A result that nobody reads, and the call with it, would be optimised away.
void *volatile sink;
int handler_calls;

// Called twice in vain; the second time it gives up.
void handler()
{
	if (++handler_calls == 2) {
		std::set_new_handler(nullptr);
	}
}

template <class Function> bool throws_bad_alloc(Function function)
{
	handler_calls = 0;
	std::set_new_handler(handler);
	try {
		function();
	} catch (const std::bad_alloc &) {
		std::set_new_handler(nullptr);
		return true;
	}
	std::set_new_handler(nullptr);
	return false;
}

void test_malloc_comes_from_the_library_under_test(void **)
{
	assert_interposed("malloc");
	assert_interposed("aligned_alloc");
}

void test_operators_come_from_the_cxx_library(void **)
{
	char path[PATH_MAX];

	assert_non_null(strstr(object_of("_Znwm", path), "libstdc++"));
	assert_non_null(strstr(object_of("_ZdlPv", path), "libstdc++"));
}

void test_every_form_pairs(void **)
{
	for (std::size_t n = 1; n < 300000; n = n * 3 + 1) {
		std::align_val_t align{64};

		::operator delete(::operator new(n));
		::operator delete(::operator new(n), n);
		::operator delete[](::operator new[](n));
		::operator delete[](::operator new[](n), n);
		::operator delete(
			::operator new(n, std::nothrow), std::nothrow);
		::operator delete[](
			::operator new[](n, std::nothrow), std::nothrow);
		::operator delete(::operator new(n, align), align);
		::operator delete(::operator new(n, align), n, align);
		::operator delete[](::operator new[](n, align), align);
		::operator delete(
			::operator new(n, align, std::nothrow), align);
	}
}

void test_zero_bytes_give_unique_blocks(void **)
{
	void *a = ::operator new(0), *b = ::operator new(0);

	assert_non_null(a);
	assert_true(a != b);
	::operator delete(a);
	::operator delete(b);
	::operator delete(nullptr);
}

void test_aligned_forms_align(void **)
{
	for (std::size_t align = 16; align <= 1 << 20; align *= 2) {
		void *block = ::operator new (1000, std::align_val_t{align});

		assert_aligned(block, align);
		memset(block, 1, 1000);
		::operator delete (block, std::align_val_t{align});
	}
}

void test_failure_calls_the_handler_then_throws(void **)
{
	assert_true(
		throws_bad_alloc([] { sink = ::operator new(impossible); }));
	assert_int_equal(handler_calls, 2);
	assert_true(
		throws_bad_alloc([] { sink = ::operator new[](impossible); }));
	assert_int_equal(handler_calls, 2);
	assert_true(throws_bad_alloc([] {
		sink = ::operator new (impossible, std::align_val_t{64});
	}));
	assert_int_equal(handler_calls, 2);
}

void test_nothrow_forms_return_null(void **)
{
	handler_calls = 0;
	std::set_new_handler(handler);
	assert_null(::operator new(impossible, std::nothrow));
	assert_int_equal(handler_calls, 2);
	assert_null(::operator new[](impossible, std::nothrow));
}

void test_containers_pass_between_threads(void **)
{
	std::vector<std::thread> threads;
	std::vector<std::vector<std::string>> made(6);

	for (std::size_t i = 0; i < made.size(); i++) {
		threads.emplace_back([&made, i] {
			for (int k = 0; k < 20000; k++) {
				made[i].push_back(std::string(
					k % 300, static_cast<char>('a' + i)));
			}
		});
	}
	for (auto &thread : threads) {
		thread.join();
	}
	for (std::size_t i = 0; i < made.size(); i++) {
		for (int k = 0; k < 20000; k++) {
			assert_true(made[i][k] ==
				    std::string(k % 300,
					    static_cast<char>('a' + i)));
		}
	}
}

} // namespace

int main()
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_malloc_comes_from_the_library_under_test),
		cmocka_unit_test(test_operators_come_from_the_cxx_library),
		cmocka_unit_test(test_every_form_pairs),
		cmocka_unit_test(test_zero_bytes_give_unique_blocks),
		cmocka_unit_test(test_aligned_forms_align),
		cmocka_unit_test(test_failure_calls_the_handler_then_throws),
		cmocka_unit_test(test_nothrow_forms_return_null),
		cmocka_unit_test(test_containers_pass_between_threads),
	};

	return cmocka_run_group_tests_name("operators", tests, NULL, NULL);
}
