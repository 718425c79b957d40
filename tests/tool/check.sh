# SPDX-License-Identifier: MIT
# check.sh - for the tests of the tool; source it. $1: the tool, $2: the shim.
set -u
export LC_ALL=C
unset LD_PRELOAD ALLOC_BACKEND ALLOC_VERBOSE ALLOC_STRICT
tool=$1
export ALLOCMUX_SHIM=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/allocmux-tool.XXXXXX")
trap 'rm -rf "$work"' EXIT
failures=0

# check CLAIM COMMAND...: the command must succeed.
check() {
	local claim=$1
	shift
	if "$@"; then
		echo "ok: $claim"
	else
		echo "FAILED: $claim: $*"
		failures=$((failures + 1))
	fi
}

# run COMMAND...: sets $status, and fills $work/out and $work/err.
run() {
	"$@" >"$work/out" 2>"$work/err"
	status=$?
}

status_is() { [ "$status" = "$1" ] || { cat "$work/err"; return 1; }; }
out_is() { [ "$(cat "$work/out")" = "$1" ] || { cat "$work/out"; return 1; }; }
out_has() { grep -qE -- "$1" "$work/out" || { cat "$work/out"; return 1; }; }
err_has() { grep -qE -- "$1" "$work/err" || { cat "$work/err"; return 1; }; }
err_lines() { [ "$(wc -l <"$work/err")" = "$1" ] || { cat "$work/err"; return 1; }; }

finish() { [ $failures = 0 ]; exit; }
