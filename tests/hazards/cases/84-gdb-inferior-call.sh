#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A debugger calls malloc/free in the stopped program (print with strings does
# this implicitly). class: R
. "$HZ_CASES/hz.sh"
needs gdb
a=()
for v in "${HZ_ENV[@]}"; do
	a+=(-ex "set environment ${v%%=*} ${v#*=}")
done
m='((void *(*)(unsigned long))malloc)'
o=$(gdb -nx -batch "${a[@]}" -ex 'set startup-with-shell off' \
	-ex 'break puts' -ex run -ex "print $m(1000) != 0" \
	-ex "call ((void (*)(void *))free)($m(10))" \
	-ex continue "$HZ_BIN/child" 2>&1)
grep -q '= 1' <<<"$o" && grep -q 'exited normally' <<<"$o" ||
	fail "$(tail -n 2 <<<"$o" | tr '\n' ' ')"
