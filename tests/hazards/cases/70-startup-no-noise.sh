#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Programs started with the preload print nothing extra: output and stderr of
# tools get parsed. Also with an empty environment and with tunables. class: R
. "$HZ_CASES/hz.sh"
o=$(under /bin/echo hi 2>&1)
[ "$o" = hi ] || fail "noise: $o"
o=$(under_clean /bin/echo hi 2>&1)
[ "$o" = hi ] || fail "noise with empty environment: $o"
o=$(under_clean "$HZ_BIN/workout" 2>&1)
rc=$?
[ $rc = 0 ] && [ -z "$o" ] || fail "workout: rc=$rc, noise: $o"
t=glibc.malloc.trim_threshold=128:glibc.malloc.check=3:glibc.malloc.arena_max=1
o=$(under "$(tunables $t)" "$HZ_BIN/workout" 2>&1)
rc=$?
[ $rc = 0 ] && [ -z "$o" ] || fail "tunables: rc=$rc, noise: $o"
