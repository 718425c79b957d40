#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A set-uid program that loads the library must obey none of its environment
# variables: no messages, no files, no code from paths in them. class: R
. "$HZ_CASES/hz.sh"
needs_lib
needs setpriv
[ "$(id -u)" = 0 ] || skip "needs root to make a set-uid program"
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
chmod 755 "$d"
cp "$HZ_BIN/secure" "$HZ_BIN/evil.so" "$HZ_LIB" "$d"
chmod 4755 "$d/secure"
o=$(env ALLOC_BACKEND="$d/evil.so" ALLOC_VERBOSE=1 ALLOC_PLUGIN_PATH="$d" \
	ALLOC_TRACE="$d/trace" MALLOC_CONF=stats_print:true,junk:true \
	MIMALLOC_VERBOSE=1 MIMALLOC_SHOW_STATS=1 \
	setpriv --reuid=65534 --clear-groups \
	"$d/secure" "$d/$(basename "$HZ_LIB")" 2>&1)
rc=$?
[ $rc != 77 ] || skip "$o"
[ $rc = 0 ] && [ -z "$o" ] || fail "rc=$rc: $o"
[ ! -e "$d/trace" ] || fail "wrote a file"
