#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Static children ignore the preload; nothing must leak into them (environment
# parsing, shared memory, descriptors). class: R
. "$HZ_CASES/hz.sh"
needs child-static
o=$(under sh -c "$HZ_BIN/child-static" 2>&1)
[ "$o" = ok ] || fail "got: $o"
