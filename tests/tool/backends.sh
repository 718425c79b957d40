#!/bin/bash
# SPDX-License-Identifier: MIT
# The tool and the real shim: whatever `allocmux list` names can be run.
. "$(dirname "$0")/check.sh"
unset ALLOCMUX_SHIM # the tool finds the shim of its build tree
awk=$(command -v awk)
program='BEGIN { for (i = 0; i < 20000; i++) a[i % 97] = a[i % 97] i
	for (i in a) n += length(a[i]); print n }'
expected=$("$awk" "$program")

for name in $("$tool" list --names); do
	ALLOC_STRICT=1 run "$tool" run -v -b "$name" -- "$awk" "$program"
	check "$name runs a program" status_is 0
	check "$name changes nothing" out_is "$expected"
	check "$name is what runs" err_has "^allocmux: backend $name "
done

run "$tool" run -b nosuch -- "$awk" "$program"
check "an unknown backend does not stop the program" status_is 0
check "an unknown backend is one line" err_lines 1
check "the line names those that exist" err_has 'system.*percpu'
ALLOC_STRICT=1 run "$tool" run -b nosuch -- "$awk" "$program"
check "unless it must be strict" status_is 127

run "$tool" compare -n 1 -w 0 -b all --same-output -- "$awk" "$program"
check "all backends can be compared" status_is 0
run "$tool" compare -n 1 -w 0 -b nosuch -- "$awk" "$program"
check "compare takes no other backend for one that is missing" \
	out_has '^! nosuch: .*exit status 127'

finish
