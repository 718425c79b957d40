#!/bin/bash
# SPDX-License-Identifier: MIT
# `allocmux run`, over a stand-in for the shim: environment and exit statuses.
. "$(dirname "$0")/check.sh"
big_tls=$3 small_tls=$4 static_program=$5

run "$tool" run --backend dl -- sh -c 'exit 7'
check "the exit status is the program's" status_is 7

run "$tool" run -b dl -- sh -c 'kill -TERM $$'
check "death by signal is the program's" status_is 143

run "$tool" run --backend dl -- sh -c 'echo "$ALLOC_BACKEND"'
check "the backend's name is passed on" out_is dl

run "$tool" run -- sh -c 'echo "${ALLOC_BACKEND-unset}"'
check "without --backend the environment decides" out_is unset

run "$tool" run -v -- sh -c 'echo "$ALLOC_VERBOSE"'
check "--verbose asks the shim to speak" out_is 1

run "$tool" run -- sh -c 'echo "$LD_PRELOAD"'
check "the shim is preloaded" out_is "$ALLOCMUX_SHIM"

LD_PRELOAD=$small_tls run "$tool" run -- sh -c 'echo "$LD_PRELOAD"'
check "what was preloaded is kept" out_is "$ALLOCMUX_SHIM:$small_tls"

run "$tool" run -b "$big_tls" -- sh -c 'echo "$LD_PRELOAD"'
check "a library with much static TLS is preloaded behind the shim" \
	out_is "$ALLOCMUX_SHIM:$big_tls"

run "$tool" run -b "$small_tls" -- sh -c 'echo "$LD_PRELOAD"'
check "a library with little TLS is left to the shim" out_is "$ALLOCMUX_SHIM"

run "$tool" run -- sh -c 'grep -c "$ALLOCMUX_SHIM" /proc/self/maps >/dev/null &&
	echo mapped'
check "the shim is in the program" out_is mapped

run "$tool" run -- sh -c 'echo "$1 $2"' sh --backend x
check "the program's own options are not ours" out_is "--backend x"

run "$tool" run -- /nonexistent/program
check "no such program is 127" status_is 127
check "no such program is one line" err_lines 1
check "no such program is named" err_has /nonexistent/program

touch "$work/plain"
run "$tool" run -- "$work/plain"
check "a program that cannot be executed is 126" status_is 126

ALLOCMUX_SHIM=/nonexistent/shim.so run "$tool" run -- true
check "a missing shim is 125" status_is 125
check "a missing shim is named" err_has /nonexistent/shim.so

mkdir "$work/a b" && cp "$ALLOCMUX_SHIM" "$work/a b/shim.so"
ALLOCMUX_SHIM="$work/a b/shim.so" run "$tool" run -- true
check "a path that LD_PRELOAD cannot name is refused" status_is 125
check "the refusal says why" err_has "without spaces and colons"

run "$tool" run
check "nothing to run is wrong usage" status_is 125

run "$tool" run -- "$static_program"
check "a static program runs" status_is 0
check "a static program is warned about" err_has "statically linked"

finish
