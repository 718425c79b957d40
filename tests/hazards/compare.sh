#!/bin/bash
# SPDX-License-Identifier: MIT
#
# compare.sh - an external library behind the shim, against the library alone.
#
#   compare.sh --bin DIR --shim SHIM.so --tool ALLOCMUX --backend NAME
#              --lib LIB.so
#
# Runs the hazards with LIB preloaded alone, then under SHIM with
# ALLOC_BACKEND=NAME. Fails if a case fails behind the shim that expect/NAME.txt
# does not name, if a named case passes, or if a named case passes with the
# library alone: then the fault is ours. So the list can only shrink.
# HZ_KEEP: a folder for the two tables of results.
set -u
here=$(cd "$(dirname "$0")" && pwd)
die() { echo "compare.sh: $*" >&2; exit 2; }
while [ $# -gt 0 ]; do
	[ $# -ge 2 ] || die "$1 needs a value"
	case $1 in
	--bin) bin=$2 ;;
	--shim) shim=$2 ;;
	--backend) backend=$2 ;;
	--lib) lib=$2 ;;
	--tool) tool=$2 ;;
	*) die "unknown option $1" ;;
	esac
	shift 2
done
dir=${HZ_KEEP:-$(mktemp -d)}
[ -n "${HZ_KEEP-}" ] || trap 'rm -rf "$dir"' EXIT
expect=("$here/expect/any.txt" "$here/expect/$backend.txt")

echo "--- $backend alone: $lib"
"$here/run.sh" --bin "$bin" --lib "$lib" --out "$dir/$backend-alone"
[ $? -le 1 ] || die "the run with the library alone did not work"
echo "--- $backend behind the shim"
"$here/run.sh" --bin "$bin" --lib "$shim" --backend "$backend" \
	--tool "$tool" --expect "${expect[0]}" --expect "${expect[1]}" --out "$dir/$backend-shim"
status=$?
while read -r name reason; do
	case $name in '' | '#'* | '?'*) continue ;; esac
	if grep -q "^$name	PASS	" "$dir/$backend-alone"; then
		echo "$name: passes with the library alone;" \
			"it must not be on the list"
		status=1
	fi
done < <(cat "${expect[@]}")
exit $status
