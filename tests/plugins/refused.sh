#!/bin/bash
# SPDX-License-Identifier: MIT
#
# refused.sh - a broken plugin costs one clear line, and the program runs on.
#
#   refused.sh USE SHIM PLUGIN REASON
#
# USE must run on libc's malloc and say so; stderr must be one line that names
# the plugin, gives REASON (a fixed string), the known names, and what happens
# now. With ALLOC_STRICT=1 the program must not run: status 127.
set -u
use=$1 shim=$2 plugin=$3 reason=$4
fail() { echo "$*"; echo "stderr: $err"; exit 1; }
run() {
	out=$(env LD_PRELOAD="$shim" ALLOC_BACKEND="$plugin" "$@" "$use" \
		2>"$TMPERR")
	status=$?
	err=$(cat "$TMPERR")
}
TMPERR=$(mktemp)
trap 'rm -f "$TMPERR"' EXIT

one_line() {
	[ "$(wc -l <"$TMPERR")" = 1 ] || fail "not one line"
	[[ $err == "allocmux: backend \"$plugin\": "* ]] ||
		fail "the line does not begin with the plugin's name"
	[[ $err == *"$reason"* ]] || fail "the line does not say: $reason"
	[[ $err == *"known: "*system* ]] ||
		fail "the line does not name the known backends"
}

run
[ "$status" = 0 ] || fail "the program ended with status $status"
[ "$out" = system ] || fail "the program ran on '$out'"
one_line
[[ $err == *"running on with system"* ]] || fail "it does not say what happens"

run ALLOC_STRICT=1
[ "$status" = 127 ] || fail "strict: status $status, not 127"
[ -z "$out" ] || fail "strict: the program ran"
one_line
