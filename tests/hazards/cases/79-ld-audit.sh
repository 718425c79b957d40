#!/bin/bash
# SPDX-License-Identifier: MIT
#
# An audit library lives in a namespace of its own, with a libc of its own, and
# takes static TLS before the preload gets its share. class: R
. "$HZ_CASES/hz.sh"
o=$(under LD_AUDIT="$HZ_BIN/audit.so" "$HZ_BIN/workout" 2>&1)
rc=$?
[ $rc = 0 ] && [ -z "$o" ] || fail "rc=$rc: $o"
under LD_AUDIT="$HZ_BIN/audit.so" "$HZ_BIN/46-libc-internal-allocs" ||
	fail "libc allocations: rc=$?"
