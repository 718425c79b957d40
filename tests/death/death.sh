#!/bin/bash
# SPDX-License-Identifier: MIT
#
# death.sh - a misuse ends with one exact line; asked to, the program lives.
#
#   death.sh MISUSE SHIM BACKEND MISTAKE REGEX
#
# By default the program must abort with one line on stderr that matches REGEX
# as a whole, apart from prefix, call site and ending; with ALLOC_BAD_FREE=warn
# it must print the same line and exit with 0.
set -u
program=$1 shim=$2 backend=$3 mistake=$4 regex=$5
ulimit -c 0
err=$(mktemp)
trap 'rm -f "$err"' EXIT
site='called from 0x[0-9a-f]+ \([^()]+\+0x[0-9a-f]+\)'
fail() { echo "$*"; echo "stderr: $(cat "$err")"; exit 1; }
check() {
	[ "$(wc -l <"$err")" = 1 ] || fail "not one line"
	grep -qE "^allocmux: $regex; $site; $1\$" "$err" ||
		fail "the line is not: $regex; ... $1"
}

# In a subshell, so that bash does not tell of the signal.
(LD_PRELOAD=$shim ALLOC_BACKEND=$backend ALLOC_STRICT=1 \
	exec "$program" "$mistake") 2>"$err"
status=$?
[ $status = 134 ] || fail "status $status, not SIGABRT"
check 'aborting \(ALLOC_BAD_FREE=warn runs on\)'

(LD_PRELOAD=$shim ALLOC_BACKEND=$backend ALLOC_BAD_FREE=warn \
	exec "$program" "$mistake") 2>"$err"
status=$?
[ $status = 0 ] || fail "warn: status $status"
check ignored
