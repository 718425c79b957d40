#!/bin/bash
# SPDX-License-Identifier: MIT
# `allocmux bench`, as small as it gets: its form, not its figures.
. "$(dirname "$0")/check.sh"
unset ALLOCMUX_SHIM # the tool finds the shim of its build tree

run "$tool" bench -n 1 --scale 1 -b dl --workloads larson,churn.small \
	--json "$work/bench.json"
check "a small bench succeeds" status_is 0
check "each workload is a line" out_has '^churn.small +1\.00 +[0-9.]+'
check "means are told" out_has '^geometric mean +1\.00 +[0-9.]+'
check "a choice is told" out_has '^Not beaten in both means by any other: .'
run "$tool" compare --from "$work/bench.json" --markdown
check "compare reads its results" out_has 'workload=churn.small'
run "$tool" bench -n 1 --scale 1 -b dl --workloads nosuch
check "a workload that cannot run has failed" status_is 1
run "$tool" bench --scale 0
check "wrong usage is refused" status_is 2

finish
