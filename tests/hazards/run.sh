#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh - run the hazard cases, each in a process of its own.
#
#   run.sh --bin DIR [--lib LIB.so] [--backend NAME] [--only REGEX]
#          [--tool ALLOCMUX] [--expect FILE]... [--jobs N] [--out FILE]
#
#   --bin      where CMake built the programs
#   --lib      the library to preload; none: plain libc
#   --backend  ALLOC_BACKEND for the cases, if LIB is our shim
#   --tool     our launcher: what it sets for BACKEND is set for the cases, so
#              that a library with much static TLS can be loaded
#   --expect   names of cases that must fail here, one a line, with the reason
#              after the name; "?" before a name: it may fail
#   --out      write "case result reason" lines, separated by tabs
#
# Prints one line a case: PASS, FAIL(status), CRASH(signal), HANG, SKIP, and
# KNOWN for what --expect names; then the totals. Exit status 0 if nothing else
# failed and nothing expected to fail passed, 1 otherwise, 2 for bad usage.
# HZ_TIMEOUT: seconds a case may take (default 180).
set -u
here=$(cd "$(dirname "$0")" && pwd)
lib='' backend='' tool='' only=. jobs=$(nproc) out=/dev/null bin=''
expect=(/dev/null)

die() { echo "run.sh: $*" >&2; exit 2; }
while [ $# -gt 0 ]; do
	[ $# -ge 2 ] || die "$1 needs a value"
	case $1 in
	--bin) bin=$2 ;;
	--lib) lib=$2 ;;
	--backend) backend=$2 ;;
	--only) only=$2 ;;
	--tool) tool=$2 ;;
	--expect) expect+=("$2") ;;
	--jobs) jobs=$2 ;;
	--out) out=$2 ;;
	*) die "unknown option $1" ;;
	esac
	shift 2
done
[ -x "$bin/workout" ] || die "no programs in '$bin'; build the tree first"
cat "${expect[@]}" >/dev/null || die "cannot read a list"
if [ -n "$lib" ]; then
	lib=$(readlink -e "$lib") || die "no such library"
fi

unset LD_PRELOAD ALLOC_BACKEND GLIBC_TUNABLES
export HZ_LIB=$lib HZ_PRELOAD=$lib HZ_BIN=$bin HZ_CASES=$here/cases
[ -z "$backend" ] || export ALLOC_BACKEND=$backend
if [ -n "$tool" ]; then
	ask=("$tool" run --backend "$backend" -- printenv)
	HZ_PRELOAD=$("${ask[@]}" LD_PRELOAD) || die "the tool does not work"
	GLIBC_TUNABLES=$("${ask[@]}" GLIBC_TUNABLES) && export GLIBC_TUNABLES
fi
limit=${HZ_TIMEOUT:-180}
ulimit -c 0
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# run_case FILE: leaves the exit status and stderr in $results.
run_case() {
	local name=${1##*/}
	name=${name%.*}
	case $1 in
	*.sh) set -- bash "$1" ;;
	*) set -- env ${HZ_PRELOAD:+LD_PRELOAD="$HZ_PRELOAD"} "$bin/$name" ;;
	esac
	timeout -k 2 "$limit" "$@" </dev/null >/dev/null 2>"$results/$name.err"
	echo $? >"$results/$name.rc"
}

cases=()
for file in "$here"/cases/[0-9x]*.*; do
	name=${file##*/}
	[[ ${name%.*} =~ $only ]] && cases+=("$file")
done
[ ${#cases[@]} -gt 0 ] || die "no case matches '$only'"
for file in "${cases[@]}"; do
	while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
		wait -n
	done
	run_case "$file" 2>/dev/null &
done
wait

pass=0 fail=0 hang=0 skip=0 known=0 stale=0
: >"$out"
for file in "${cases[@]}"; do
	name=${file##*/}
	name=${name%.*}
	rc=$(cat "$results/$name.rc")
	why=$(tail -n 1 "$results/$name.err" | tr '\t' ' ' | cut -c 1-160)
	case $rc in
	0) verdict=PASS ;;
	77) verdict=SKIP ;;
	124 | 137 | 142) verdict=HANG ;;
	13[2-9] | 159) verdict="CRASH($((rc - 128)))" ;;
	*) verdict="FAIL($rc)" ;;
	esac
	must=$(cat "${expect[@]}" | grep -cE "^$name( |\$)")
	may=$(cat "${expect[@]}" | grep -cE "^\?$name( |\$)")
	case $verdict in
	PASS)
		if [ "$must" -gt 0 ]; then
			verdict=PASS why='passes now: take it off the list'
			stale=$((stale + 1))
		else
			pass=$((pass + 1)) why=
		fi
		;;
	SKIP) skip=$((skip + 1)) ;;
	*)
		if [ "$must" -gt 0 ] || [ "$may" -gt 0 ]; then
			verdict="KNOWN $verdict"
			known=$((known + 1))
		elif [ "$verdict" = HANG ]; then
			hang=$((hang + 1))
		else
			fail=$((fail + 1))
		fi
		;;
	esac
	printf '%-40s %-12s %s\n' "$name" "$verdict" "$why"
	printf '%s\t%s\t%s\n' "$name" "${verdict#KNOWN }" "$why" >>"$out"
done
echo "pass=$pass fail=$fail hang=$hang skip=$skip known=$known stale=$stale" \
	"lib=${lib:-none}${backend:+ backend=$backend}"
[ $((fail + hang + stale)) = 0 ]
