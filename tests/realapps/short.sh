#!/bin/bash
# SPDX-License-Identifier: MIT
#
# short.sh - a small form of one batch workload under the shim.
#
#   short.sh WORKLOAD PROGRAM SHIM BACKEND
#
# The output must equal that of a run without the shim, made just before. Exit
# status 77 without PROGRAM.
set -u
workload=$1 program=$2 shim=$3 backend=$4
command -v "$program" >/dev/null || { echo "skipped: no $program"; exit 77; }
base=$(mktemp -d)
trap 'rm -rf "$base"' EXIT
BASE=$base SCALE=${SCALE:-0.1} "$(dirname "$0")/$workload.sh" "$shim" \
	ALLOC_BACKEND="$backend" ALLOC_STRICT=1 >"$base/out" 2>&1
status=$?
[ $status = 0 ] || tail -n 20 "$base"/fail/*/log
cat "$base/out"
grep -q '^RESULT .* ok=1 ' "$base/out" || exit 1
exit $status
