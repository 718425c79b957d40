#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The full malloc set that the glibc manual lists for replacements comes from
# the library, and every C++ form or none: a hole mixes two heaps. class: R
. "$HZ_CASES/hz.sh"
needs_lib
s=$(nm -D --defined-only "$HZ_LIB" | awk '{ print $NF }' | sed 's/@.*//' |
	sort -u)
want="malloc calloc realloc free aligned_alloc malloc_usable_size memalign
	posix_memalign pvalloc valloc"
if grep -qx _Znwm <<<"$s"; then
	want="$want _Znam _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm _ZnwmRKSt9nothrow_t
		_ZnamRKSt9nothrow_t _ZdlPvRKSt9nothrow_t _ZdaPvRKSt9nothrow_t
		_ZnwmSt11align_val_t _ZnamSt11align_val_t _ZdlPvSt11align_val_t
		_ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t
		_ZdaPvmSt11align_val_t"
fi
miss=
for x in $want; do
	grep -qx "$x" <<<"$s" || miss="$miss $x"
done
[ -z "$miss" ] || fail "missing:$miss"
