#!/bin/bash
# SPDX-License-Identifier: MIT
#
# An AddressSanitizer-built child inherits LD_PRELOAD: its runtime insists on
# coming first. No preload library can avoid the refusal with gcc's shared
# runtime; a launcher has to clear the variable. class: X
. "$HZ_CASES/hz.sh"
needs child-asan
o=$(under "$HZ_BIN/child-asan" 2>&1) || fail "rc=$?: ${o%%$'\n'*}"
