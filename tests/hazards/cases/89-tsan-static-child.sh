#!/bin/bash
# SPDX-License-Identifier: MIT
#
# ThreadSanitizer program (runtime inside the executable) with threads and the
# preload. class: R
. "$HZ_CASES/hz.sh"
needs child-tsan
setarch -R "$HZ_BIN/child-tsan" >/dev/null 2>&1 || skip "tsan does not run here"
o=$(under setarch -R "$HZ_BIN/child-tsan" 2>&1) || fail "rc=$?: ${o%%$'\n'*}"
