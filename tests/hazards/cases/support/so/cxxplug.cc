// SPDX-License-Identifier: MIT
#include <string>
extern "C" void cp_fill(std::string *s)
{
	s->append(500, 'p');
	std::string t = *s + "q";
	s->swap(t);
}
extern "C" int *cp_array(int n)
{
	return new int[n];
}
extern "C" void cp_delete(int *p)
{
	delete[] p;
}
