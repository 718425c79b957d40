#!/bin/bash
# SPDX-License-Identifier: MIT
#
# One DSO without the IBT/SHSTK property turns shadow stacks off (or is refused)
# for the whole process under CET. class: R
. "$HZ_CASES/hz.sh"
needs_lib
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
readelf -nW "$HZ_LIB" 2>/dev/null | grep -q 'x86 feature:.*IBT.*SHSTK' ||
	fail "no IBT+SHSTK note"
