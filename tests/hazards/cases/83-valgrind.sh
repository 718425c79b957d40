#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Under valgrind, which replaces malloc itself, the preload must neither confuse
# the program nor show errors of its own. class: R
. "$HZ_CASES/hz.sh"
needs valgrind
for p in child workout; do
	o=$(under valgrind -q --error-exitcode=9 "$HZ_BIN/$p" 2>&1) ||
		fail "$p: rc=$?: $(tail -n 3 <<<"$o" | tr '\n' ' ')"
done
