#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Driver: the program runs without preload and dlopens the library itself; what
# it does is told in support/prog/x18-late-load-std-string. class: B
. "$HZ_CASES/hz.sh"
needs_lib
exec "$HZ_BIN/x18-late-load-std-string-prog"
