#!/bin/bash
# SPDX-License-Identifier: MIT
# Reports and exports of a real trace of planted.c, each opened by the program
# it is made for, if that is installed.
# $3: planted; $4: the shim; $5: the formats that were left out of the build.
. "$(dirname "$0")/check.sh"
here=$(cd "$(dirname "$0")" && pwd)
planted=$3
shim=$4
missing=" ${5:-} "
trace=$work/planted.trace

skip() { echo "skipped: $1 (no $2)"; }
# with PROGRAM CLAIM COMMAND...
with() {
	local program=$1 claim=$2
	shift 2
	if command -v "$program" >/dev/null; then
		check "$claim" "$@"
	else
		skip "$claim" "$program"
	fi
}
exported() {
	run "$tool" export --format "$1" -o "$work/$1" "$trace"
	check "export to $1 succeeds" status_is 0
	check "export to $1 has no complaints" err_lines 0
}
built() { [[ $missing != *" $1 "* ]]; }

ALLOC_TRACE=record ALLOC_TRACE_FILE=$trace LD_PRELOAD=$shim "$planted"
check "a trace was written" [ -s "$trace" ]

run "$tool" report --json "$trace"
check "report --json succeeds" status_is 0
cp "$work/out" "$work/report.json"
check "the planted figures are exact" \
	python3 "$here/planted.py" "$work/report.json"

run "$tool" report "$trace"
check "report names the call site and its line" \
	out_has 'planted_peak +planted\.c:[0-9]+'
check "report has no complaints" err_lines 0
COLUMNS=80 run "$tool" report "$trace"
check "report fits the terminal" [ -z "$(awk 'length > 80' "$work/out")" ]
run "$tool" report --tree "$trace"
check "the tree starts outside" out_has 'main +planted\.c:[0-9]+'
run "$tool" report --caller --sort leaked "$trace"
check "the callers start at the allocation" \
	[ "$(sed -n 2p "$work/out" | grep -c planted_leak)" = 1 ]
run "$tool" report --flat --sort calls "$trace"
check "the flat list counts calls" out_has '5,000 .* planted_pairs'
run "$tool" report --json --focus 'planted_(leak|peak)' "$trace"
check "--focus keeps what matches" out_has '"function": "planted_leak"'
run "$tool" report --sort bytes --ignore planted_peak "$trace"
check "--ignore leaves out what matches" \
	[ "$(grep -c planted_peak "$work/out")" = 0 ]
run "$tool" report --focus '(' "$trace"
check "a bad regular expression is wrong usage" status_is 2

run "$tool" leaks "$trace"
check "leaks says that there are some" status_is 1
check "leaks shows the stack" out_has '^    planted_leak  planted\.c:'
printf '# known\nleak:planted_leak\nleak:^planted_rec*\nleak:planted.c\n' \
	>"$work/suppressions"
run "$tool" leaks --suppressions "$work/suppressions" "$trace"
check "suppressed leaks are none" status_is 0
echo nonsense >"$work/suppressions"
run "$tool" leaks --suppressions "$work/suppressions" "$trace"
check "a bad suppression is named with its line" err_has 'suppressions:1:'
run "$tool" diff "$trace" "$trace"
check "a trace does not differ from itself" \
	[ "$(grep -c '^ *[+-]' "$work/out")" = 0 ]

exported collapsed
check "collapsed stacks go from the root to the allocation" \
	grep -qE ';main;planted_leak 100000$' "$work/collapsed"
exported speedscope
check "speedscope's file has a profile for each metric" python3 -c '
import json, sys
o = json.load(open(sys.argv[1]))
assert len(o["profiles"]) == 5
for p in o["profiles"]:
    assert len(p["samples"]) == len(p["weights"])
    assert sum(p["weights"]) == p["endValue"]
    for s in p["samples"]:
        assert all(f < len(o["shared"]["frames"]) for f in s)
' "$work/speedscope"
exported chrome
check "Chrome's file has counters" python3 -c '
import json, sys
o = json.load(open(sys.argv[1]))
assert [e for e in o["traceEvents"] if e["ph"] == "C" and e["args"].get("bytes")]
' "$work/chrome"
exported massif
printed_massif() { ms_print "$work/massif" | grep -q 'planted_peak (planted.c:'; }
with ms_print "ms_print shows the peak" printed_massif
exported heaptrack
printed_heaptrack() {
	heaptrack_print "$work/heaptrack" >"$work/printed" 2>&1
	# Calls and leaks as ours; heaptrack counts what libc keeps as well.
	grep -q 'calls to allocation functions: 53[0-9][0-9] ' \
		"$work/printed" && grep -q 'planted_leak' "$work/printed"
}
with heaptrack_print "heaptrack_print counts the same" printed_heaptrack
if built sqlite; then
	exported sqlite
	counted_sqlite() {
		[ "$(sqlite3 "$work/sqlite" "SELECT calls, bytes, leaked FROM
			sites WHERE function = 'planted_leak'")" = \
			'100|100000|100000' ]
	}
	with sqlite3 "sqlite3 reads the tables" counted_sqlite
fi
if built pprof; then
	exported pprof
	counted_pprof() {
		PPROF_TMPDIR=$work go tool pprof -top -unit=bytes \
			-sample_index="$1" "$work/pprof" 2>/dev/null |
			grep -qE "$2"
	}
	with go "pprof shows what is in use" \
		counted_pprof inuse_space '^ *100000B .* planted_leak$'
	with go "pprof shows the calls" \
		counted_pprof alloc_objects '^ *5000(bytes)? .* planted_pairs$'
fi
if built html; then
	exported html
	cp "$work/html" "$work/page.html"
	drawn() {
		timeout 60 chromium --headless --no-sandbox --disable-gpu \
			--disable-quic --no-first-run \
			--disable-background-networking \
			--disable-component-update --disable-sync \
			--user-data-dir="$work/chromium" \
			--virtual-time-budget=5000 \
			--dump-dom "file://$work/page.html" \
			>"$work/dom" 2>/dev/null
		grep -q 'data-ready="yes"' "$work/dom" &&
			grep -q 'class="frame"' "$work/dom" &&
			grep -q 'planted_peak' "$work/dom"
	}
	with chromium "the HTML report draws itself" drawn
	check "the HTML report asks no network" \
		[ -z "$(grep -oE '(src|href)="(https?:)?//[^"]*\.(js|css)' \
			"$work/html")" ]
fi

run "$tool" export --format nosuch "$trace"
check "an unknown format is wrong usage" status_is 2
run "$tool" export --format collapsed -o "$work/no/such" "$trace"
check "an unwritable output is reported" status_is 3
run "$tool" export --format speedscope -o /dev/full "$trace"
check "a full disk is reported" status_is 3
check "a full disk takes one line" err_lines 1

run "$tool" report "$work/nosuch"
check "a missing trace is reported" status_is 3
check "a missing trace takes one line" err_lines 1
run "$tool" report "$planted"
check "a foreign file is named as such" err_has 'not an Allocmux trace'
head -c $(($(stat -c %s "$trace") * 2 / 3)) "$trace" >"$work/cut"
run "$tool" report "$work/cut"
check "a cut trace is shown as far as it goes" out_has 'allocated'
cp "$planted" "$work/program"
chmod +x "$work/program"
ALLOC_TRACE=record ALLOC_TRACE_FILE=$work/changed.trace LD_PRELOAD=$shim \
	"$work/program"
cp "$tool" "$work/program"
run "$tool" report "$work/changed.trace"
check "a program that changed is named" err_has 'not the file that was traced'
rm "$work/program"
run "$tool" report "$work/changed.trace"
check "a program that is gone is named" err_has 'not there any more'
check "what is known is still shown" out_has 'program\+0x'

finish
