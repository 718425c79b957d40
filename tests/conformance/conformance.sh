#!/bin/bash
# SPDX-License-Identifier: MIT
#
# conformance.sh - every conformance program under one backend.
#
#   conformance.sh BIN_DIR LIBRARY [BACKEND TOOL]
#
# LIBRARY is preloaded and must be where malloc comes from; with BACKEND it is
# the shim, TOOL starts the programs, and ALLOC_STRICT makes a backend that is
# not there an error. What an external library breaks is in expect/BACKEND.txt
# ("program test reason"); a line whose test passes is an error too, so the list
# can only shrink. "?" before a line: it fails now and then.
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=$1 library=$2 backend=${3-} tool=${4-}
expect=$here/expect/${backend:-none}.txt
[ -r "$expect" ] || expect=/dev/null
status=0

launch() {
	if [ -n "$backend" ]; then
		ALLOC_STRICT=1 "$tool" run --backend "$backend" -- "$@"
	else
		LD_PRELOAD="$library" "$@"
	fi
}
export AMUX_EXPECT_LIBRARY=$library CMOCKA_MESSAGE_OUTPUT=TAP

for program in family threads operators; do
	out=$(launch timeout -k 2 300 "$bin/$program" 2>&1)
	rc=$?
	echo "$out" | sed "s/^/$program: /"
	if [ "$(grep -cE '^(not )?ok ' <<<"$out")" = 0 ] ||
		[ $rc -ge 124 ]; then
		echo "$program ended with status $rc"
		status=1
		continue
	fi
	while read -r name; do
		grep -qE "^\??$program $name( |\$)" "$expect" && continue
		echo "FAILED: $program $name"
		status=1
	done < <(sed -n 's/^not ok [0-9]* - //p' <<<"$out")
	while read -r name; do
		grep -qE "^$program $name( |\$)" "$expect" || continue
		echo "PASSES NOW, take it off $expect: $program $name"
		status=1
	done < <(sed -n 's/^ok [0-9]* - //p' <<<"$out")
done
exit $status
