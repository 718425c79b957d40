#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Route: two full allocators preloaded; the second fills the symbols that the
# first lacks (pvalloc, reallocarray, nothrow delete, __libc_*), so one block
# crosses. Second one: jemalloc, tcmalloc, mimalloc of the distribution. A
# program that dies under the first alone does not count. class: R
. "$HZ_CASES/hz.sh"
needs_lib
L=/usr/lib/$(uname -m)-linux-gnu
any=0
for o in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
	[ -e "$L/$o" ] || continue
	[ "$(readlink -f "$L/$o")" != "$(readlink -f "$HZ_LIB")" ] || continue
	any=1
	for order in "$HZ_PRELOAD:$L/$o" "$L/$o:$HZ_PRELOAD"; do
		for p in 17-valloc-pvalloc-memalign 21-cxx-new-matrix \
			46-libc-internal-allocs workout; do
			under LD_PRELOAD="$order" "$HZ_BIN/$p" >/dev/null 2>&1
			rc=$?
			[ $rc != 0 ] || continue
			if [ "$order" = "$L/$o:$HZ_PRELOAD" ]; then
				under LD_PRELOAD="$L/$o" "$HZ_BIN/$p" \
					>/dev/null 2>&1 || continue
			fi
			fail "order $order, $p: rc=$rc"
		done
	done
done
[ $any = 1 ] || skip "no second allocator installed"
