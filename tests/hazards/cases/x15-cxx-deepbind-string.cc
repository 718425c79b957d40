// SPDX-License-Identifier: MIT
// Route: a C++ plugin loaded with RTLD_DEEPBIND exchanges std::string/new[]
// blocks with the host: operator new/delete of host and plugin bind to
// different providers. class: P
#include "hz.h"
#include <string>
int main()
{
	hz_limit(10);
	void *h = hz_open("cxxplug.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	auto mk = (void (*)(std::string *))dlsym(h, "cp_fill");
	auto ar = (int *(*)(int))dlsym(h, "cp_array");
	auto de = (void (*)(int *))dlsym(h, "cp_delete");
	CHECK(mk && ar && de);
	for (int i = 0; i < 200; i++) {
		std::string s(i * 10, 'h');
		mk(&s);
		s += std::string(3000, 'z');
		int *a = ar(100 + i);
		a[0] = 1;
		delete[] a;
		de(new int[50 + i]);
	}
	return 0;
}
