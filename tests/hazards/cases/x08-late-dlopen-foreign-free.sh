#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Driver: the program runs without preload and dlopens the library itself; what
# it does is told in support/prog/x08-late-dlopen-foreign-free. class: B
. "$HZ_CASES/hz.sh"
needs_lib
exec "$HZ_BIN/x08-late-dlopen-foreign-free-prog"
