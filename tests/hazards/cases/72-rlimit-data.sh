#!/bin/bash
# SPDX-License-Identifier: MIT
#
# RLIMIT_DATA at start-up counts private writable memory, touched or not:
# large writable reservations fail or starve the program. class: R
. "$HZ_CASES/hz.sh"
for v in 200000 100000; do
	(ulimit -d $v && under "$HZ_BIN/workout") || fail "ulimit -d $v: rc=$?"
done
