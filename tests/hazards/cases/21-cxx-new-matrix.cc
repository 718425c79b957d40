// SPDX-License-Identifier: MIT
// All replaceable new/delete forms paired as the standard allows: plain, array,
// nothrow, sized, aligned, aligned+sized. A preload that misses one form mixes
// libstdc++'s version with its own. class: P
#include "hz.h"
#include <new>
#include <string>
#include <vector>
struct alignas(64) Over {
	char b[200];
};
int main()
{
	hz_limit(20);
	for (size_t n = 1; n < 100000; n = n * 7 / 4 + 1) {
		for (int r = 0; r < 20; r++) {
			void *p;
			p = ::operator new(n);
			memset(p, 1, n);
			::operator delete(p);
			p = ::operator new(n);
			::operator delete(p, n);
			p = ::operator new[](n);
			::operator delete[](p);
			p = ::operator new[](n);
			::operator delete[](p, n);
			p = ::operator new(n, std::nothrow);
			::operator delete(p, std::nothrow);
			p = ::operator new[](n, std::nothrow);
			::operator delete[](p, std::nothrow);
			p = ::operator new(n, std::nothrow);
			::operator delete(p);
			for (size_t a = 16; a <= 8192; a *= 8) {
				std::align_val_t al{a};
				p = ::operator new(n, al);
				CHECK(!((uintptr_t)p % a));
				memset(p, 1, n);
				::operator delete(p, al);
				p = ::operator new(n, al);
				::operator delete(p, n, al);
				p = ::operator new[](n, al);
				CHECK(!((uintptr_t)p % a));
				::operator delete[](p, al);
				p = ::operator new[](n, al);
				::operator delete[](p, n, al);
				p = ::operator new(n, al, std::nothrow);
				CHECK(!((uintptr_t)p % a));
				::operator delete(p, al, std::nothrow);
				p = ::operator new[](n, al, std::nothrow);
				::operator delete[](p, al, std::nothrow);
			}
		}
	}
	Over *o = new Over[7];
	CHECK(!((uintptr_t)o % 64));
	delete[] o;
	void *z = ::operator new(0), *z2 = ::operator new(0);
	CHECK(z && z2 && z != z2);
	::operator delete(z);
	::operator delete(z2, (size_t)0);
	::operator delete(nullptr);
	::operator delete[](nullptr);
	::operator delete(nullptr, (size_t)8);
	std::vector<std::string> v;
	for (int i = 0; i < 20000; i++) {
		v.push_back(std::string(i % 300, 'x'));
	}
	return 0;
}
