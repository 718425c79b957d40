#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Driver: the program runs without preload and dlopens the library itself; what
# it does is told in support/prog/x10-late-dlopen-dlclose-thread. class: R
. "$HZ_CASES/hz.sh"
needs_lib
exec "$HZ_BIN/x10-late-dlopen-dlclose-thread-prog"
