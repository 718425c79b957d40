#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Driver: the program runs without preload and dlopens the library itself; what
# it does is told in support/prog/x09-late-module-to-host. class: B
. "$HZ_CASES/hz.sh"
needs_lib
exec "$HZ_BIN/x09-late-module-to-host-prog"
