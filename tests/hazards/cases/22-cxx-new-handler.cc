// SPDX-License-Identifier: MIT
// operator new must loop over the new_handler and then throw std::bad_alloc;
// nothrow forms call the handler too and return null. std::get_new_handler can
// be changed any time. class: P
#include "hz.h"
#include <new>
static int calls;
static void give_up()
{
	if (++calls >= 3) {
		std::set_new_handler(nullptr);
	}
}
static void thrower()
{
	++calls;
	throw std::bad_alloc();
}
template <class F> static bool throws(F f)
{
	try {
		f();
		return false;
	} catch (const std::bad_alloc &) {
		return true;
	}
}
int main()
{
	hz_limit(20);
	volatile size_t n = (size_t)1 << 61;
	calls = 0;
	std::set_new_handler(give_up);
	CHECK(throws([&] { hz_hide(::operator new(n)); }));
	CHECK(calls == 3);
	calls = 0;
	std::set_new_handler(give_up);
	CHECK(throws([&] { hz_hide(::operator new[](n)); }));
	CHECK(calls == 3);
	calls = 0;
	std::set_new_handler(give_up);
	CHECK(::operator new(n, std::nothrow) == nullptr);
	CHECK(calls == 3);
	calls = 0;
	std::set_new_handler(thrower);
	CHECK(::operator new(n, std::nothrow) == nullptr);
	CHECK(calls == 1);
	calls = 0;
	std::set_new_handler(give_up);
	CHECK(throws(
		[&] { hz_hide(::operator new(n, std::align_val_t(64))); }));
	CHECK(calls == 3);
	calls = 0;
	std::set_new_handler(give_up);
	CHECK(::operator new(n, std::align_val_t(64), std::nothrow) == nullptr);
	CHECK(calls == 3);
	std::set_new_handler(nullptr);
	CHECK(throws([&] { hz_hide(new char[n]); }));
	return 0;
}
