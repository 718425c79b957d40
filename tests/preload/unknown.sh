#!/bin/bash
# SPDX-License-Identifier: MIT
#
# unknown.sh - an unknown backend: one line that names the known ones, and the
# program runs; with ALLOC_STRICT=1 it does not, and the status is 127.
. "$(dirname "$0")/common.sh"
line='^allocmux: backend "nosuch": .*; known: system, .*'
one_line() {
	[ "$(wc -l <err)" = 1 ] && grep -qE "$1" err ||
		{ cat err; fail "not the one line"; }
}
ALLOC_STRICT=0 under nosuch echo ran >out 2>err || fail "status $?, not 0"
[ "$(cat out)" = ran ] || fail "the program did not run"
one_line "$line; running on with system\$"

under nosuch echo ran >out 2>err
status=$?
[ $status = 127 ] || fail "strict: status $status, not 127"
[ ! -s out ] || fail "strict: the program ran"
one_line "$line; not running the program"
