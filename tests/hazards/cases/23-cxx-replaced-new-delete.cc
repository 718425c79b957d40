// SPDX-License-Identifier: MIT
// A program that replaces only the two plain forms, operator new(size_t) and
// operator delete(void *): the library's array, nothrow and sized forms must
// forward to them (C++17 [new.delete]). A preload that exports all the forms
// breaks the forwarding, and its free meets the program's own pointers.
// class: P
#include "hz.h"
#include <new>
#include <string>
#include <vector>
static long made, gone;
void *operator new(std::size_t n)
{
	made++;
	char *p = static_cast<char *>(malloc(n + 64));
	if (!p) {
		throw std::bad_alloc();
	}
	memcpy(p, "MINE", 4);
	return p + 64;
}
void operator delete(void *p) noexcept
{
	if (!p) {
		return;
	}
	gone++;
	char *q = static_cast<char *>(p) - 64;
	CHECK(!memcmp(q, "MINE", 4));
	memset(q, 0, 4);
	free(q);
}
template <class F> static void counted(F f)
{
	long m = made, g = gone;
	f();
	CHECK(made == m + 1);
	CHECK(gone == g + 1);
}
int main()
{
	hz_limit(10);
	for (volatile size_t n = 1; n < 100000; n = n * 3 + 1) {
		counted([&] { ::operator delete(hz_hide(::operator new(n))); });
		counted([&] { ::operator delete(::operator new(n), n); });
		counted([&] { ::operator delete[](::operator new[](n)); });
		counted([&] { ::operator delete[](::operator new[](n), n); });
		counted([&] {
			::operator delete(
				::operator new(n, std::nothrow), std::nothrow);
		});
		counted([&] {
			::operator delete[](::operator new[](n, std::nothrow),
				std::nothrow);
		});
	}
	std::vector<std::string> v;
	for (int i = 0; i < 20000; i++) {
		v.push_back(std::string(i % 300, 'x'));
	}
	v.clear();
	v.shrink_to_fit();
	return 0;
}
