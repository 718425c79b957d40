#!/bin/bash
# SPDX-License-Identifier: MIT
#
# gcc.sh - g++ makes the same object file under every backend.
. "$(dirname "$0")/common.sh"
need g++
cat >unit.cc <<'END'
#include <algorithm>
#include <map>
#include <string>
#include <vector>

int count(int limit)
{
	std::map<std::string, std::vector<int>> lists;
	for (int i = 0; i < limit; i++)
		lists[std::to_string(i % 97)].push_back(i);
	int sum = 0;
	for (auto &list : lists) {
		std::sort(list.second.begin(), list.second.end());
		sum += list.second.front();
	}
	return sum;
}
END
echo 'int unit;' >small.cc
flags=(-O1 -g1 -frandom-seed=1)
g++ "${flags[@]}" -c unit.cc -o expected || fail "without the shim"
for backend in "${backends[@]}"; do
	proves "$backend" cc1plus g++ -c small.cc
	rm -f actual
	under "$backend" g++ "${flags[@]}" -c unit.cc -o actual ||
		fail "$backend: status $?"
	same "$backend" expected actual
done
