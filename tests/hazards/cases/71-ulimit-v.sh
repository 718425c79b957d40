#!/bin/bash
# SPDX-License-Identifier: MIT
#
# RLIMIT_AS at start-up (ulimit -v 200 MB, then 120 MB): batch systems, judges,
# CI. Reserving big arenas must degrade, not abort. class: R
. "$HZ_CASES/hz.sh"
for v in 200000 120000; do
	(ulimit -v $v && under "$HZ_BIN/workout") || fail "ulimit -v $v: rc=$?"
done
