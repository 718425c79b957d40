#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The same with clang's default, the runtime linked into the program:
# definitions in the executable win over the preload's. class: R
. "$HZ_CASES/hz.sh"
needs child-casan
o=$(under "$HZ_BIN/child-casan" 2>&1) || fail "rc=$?: ${o%%$'\n'*}"
