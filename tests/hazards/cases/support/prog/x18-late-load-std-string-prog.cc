// SPDX-License-Identifier: MIT
// Route: std::string of the program made before the allocator is dlopen-ed
// RTLD_GLOBAL by a dependency, destroyed by code bound to the new library. Run
// by its driver without preload: HZ_LIB names the library. class: B
#include "hz.h"
#include <string>
#include <vector>
int main()
{
	hz_limit(10);
	std::string a(100, 'x');
	std::vector<std::string> v(100, std::string(60, 'y'));
	void *h = dlopen(getenv("HZ_LIB"), RTLD_NOW | RTLD_GLOBAL);
	if (!h) {
		fprintf(stderr, "load: %s\n", dlerror());
		return 3;
	}
	void *q = hz_open("cxxplug.so", RTLD_NOW);
	auto mk = (void (*)(std::string *))dlsym(q, "cp_fill");
	auto de = (void (*)(int *))dlsym(q, "cp_delete");
	for (auto &s : v) {
		mk(&s);
	}
	mk(&a);
	de(new int[100]);
	a.clear();
	a.shrink_to_fit();
	return 0;
}
