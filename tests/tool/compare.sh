#!/bin/bash
# SPDX-License-Identifier: MIT
# `allocmux compare`, over a stand-in for the shim. "Backends" here are names
# that the compared script sees in ALLOC_BACKEND; what it prints depends on
# nothing but that and the number of the run, so that no claim rests on time.
. "$(dirname "$0")/check.sh"
static_program=$3 small_library=$4

# score.sh RUN: "score N", with a spread of 4 %; `slow` is 20 % higher.
cat >"$work/score.sh" <<'E'
base=1000
[ "$ALLOC_BACKEND" = slow ] && base=1200
echo "score $((base + ($1 * 7 + ${#ALLOC_BACKEND} * 3) % 41)) end"
E
compare() { run "$tool" compare "$@"; }
# field METRIC BACKEND COLUMN: from the CSV in $work/out
field() {
	awk -F, -v m="$1" -v b="$2" -v c="$3" \
		'$2 == b && $3 == m {print $c}' "$work/out"
}
field_is() { [ "$(field "$1" "$2" "$3")" = "$4" ] || { cat "$work/out"; return 1; }; }
field_in() {
	awk -v v="$(field "$1" "$2" "$3")" -v low="$4" -v high="$5" \
		'BEGIN {exit !(v != "" && v >= low && v <= high)}' ||
		{ cat "$work/out"; return 1; }
}
runs=5 failed=6 median=7 low=8 high=9 mean=10 deviation=11 ratio=12 verdict=14

compare -b slow,same,equal -n 10 -w 0 -m 'score=score ([0-9]+)' --csv -- \
	sh "$work/score.sh" '{run}'
check "a comparison succeeds" status_is 0
check "system is the baseline, and is added" field_in score system $ratio 1 1
check "a planted slowdown of 20 % is significant" \
	field_is score slow $verdict worse
check "its ratio is about 1.2" field_in score slow $ratio 1.15 1.25
check "the same under another name is not significant" \
	field_is score same $verdict ''
check "nor is another one" field_is score equal $verdict ''
check "every run counts" field_is score slow $runs 10
check "the median lies in its interval" \
	field_in score slow $median "$(field score slow $low)" "$(field score slow $high)"

compare -b slow -n 6 -w 0 -m 'score:max=score ([0-9]+)' --csv -- \
	sh "$work/score.sh" '{run}'
check "where more is better the same is the winner" \
	field_is score slow $verdict winner

compare -b a -n 2 -w 3 -m 'x=x ([0-9]+)' --csv -- echo 'x {run}'
check "warm-ups do not count" field_is x a $low 3

compare -b a -n 3 -w 0 -m 'x=x ([0-9]+)' --csv -- echo 'x {run}'
check "the mean is there" field_is x a $mean 1
check "so is the standard deviation" field_is x a $deviation 1

compare -b a --show x -n 4 -m 'x=[0-9]+$' -- printf 'a 1\nb 2\n'
check "the last match counts, whole without a group" \
	out_has '^a +2 +1.00x'
check "a column without differences has no winner" out_has 'winner +no winner'
compare -b slow --show score -n 6 -w 0 -m 'score=score ([0-9]+)' -- \
	sh "$work/score.sh" '{run}'
check "the winner is named" out_has '^winner +system *$'
check "the baseline wins with a mark" out_has '^system .*\* *$'
check "the loser is marked" out_has '^slow .*x - *$'
check "the test is stated" out_has 'Mann-Whitney'

compare -b a -n 1 -w 0 -m 'x=([0-9]+)' --csv -- sh -c 'echo 3 >&2'
check "a metric may be on stderr" field_is x a $median 3

compare -b a -n 2 -w 0 -m 'x=([0-9]+)' -- echo none
check "a missing metric is a failure" status_is 1
check "a missing metric is told" out_has 'has no metric .x'

cat >"$work/fail.sh" <<'E'
case $ALLOC_BACKEND in
exits) echo "because of this" >&2; exit 3 ;;
dies) kill -SEGV $$ ;;
once) [ "$1" != 2 ] ;;
other) echo other ;;
esac
E
compare -b exits,dies,once,well -n 4 -w 0 -- sh "$work/fail.sh" '{run}'
check "failed runs give status 1" status_is 1
check "a failing backend is a row" out_has '^exits +! +failed'
check "its status and its words are told" \
	out_has '^! exits: .*exit status 3: because of this'
check "it is not tried for ever" out_has '^! exits: 2 of 2'
check "a crash is told" out_has '^! dies: .*killed by SIGSEGV'
check "one failure among others is counted" out_has '^! once: 1 of 4 runs'

compare -b exits -n 2 -w 0 --csv -- sh "$work/fail.sh" 0
check "failures are in the CSV" field_is wall exits $failed 2

compare -b other,well -n 2 -w 0 --same-output -- sh "$work/fail.sh" 0
check "output that differs is a failure" status_is 1
check "the differing backend is told" out_has '^! other: .*output differs'
check "the others are not" [ "$(grep -c '^!' "$work/out")" = 1 ]

compare -b none -n 1 -w 0 -- /nonexistent/program
check "a missing program is told" out_has 'cannot execute /nonexistent/program'

compare -b none -n 1 -w 0 --timeout 0.1 -- sleep 1000
check "a command that takes too long has failed" out_has 'timed out after 0.1 s'

compare -b a -n 1 -w 0 -- "$static_program"
check "a program without the shim is no measurement" \
	out_has '^! a: .* was not loaded'

compare -b "none,direct=preload:$small_library" --baseline none -n 1 -w 0 \
	-m 'mapped=([0-9]+)' --csv -- grep -c "$small_library" /proc/self/maps
check "preload: preloads" field_in mapped direct $median 1 9
check "none preloads nothing" field_is mapped none $failed 1

compare -b a,b -n 3 -w 1 -- sh -c 'echo {run} {backend} >>"$0"' "$work/order"
check "each round has each backend once" \
	[ "$(sort "$work/order" | tr '\n' ,)" = "$(
		for r in 0 1 2 3; do for b in a b system; do echo "$r $b"; done; done |
			tr '\n' ,)" ]
check "rounds do not overlap" \
	[ "$(cut -d' ' -f1 "$work/order")" = "$(cut -d' ' -f1 "$work/order" | sort -n)" ]

compare --sweep n=3,5 -b a -n 2 -w 0 -m 'x=x=([0-9]+)' --csv -- echo 'x={n}'
check "a sweep runs each value" \
	[ "$(awk -F, '$2 == "a" && $3 == "x" {print $1 $7}' "$work/out" | tr '\n' ' ')" = "33 55 " ]

# Memory: 64 MiB that are written, and given back before the end.
cat >"$work/memory.c" <<'E'
#include <string.h>
#include <sys/mman.h>
int main(void)
{
	size_t size = 64 << 20;
	char *block = mmap(0, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(block, 1, size);
	return munmap(block, size);
}
E
cc -o "$work/memory" "$work/memory.c"
compare -b none --baseline none -n 1 -w 0 --csv -- "$work/memory"
check "peak RSS is the program's" field_in peak_rss none $median 65536 72000
check "RSS at the end is after it gave memory back" \
	field_in end_rss none $median 100 8000
check "faults are the program's" field_in faults none $median 16000 20000
if [ -x /usr/bin/time ]; then
	/usr/bin/time -f %M -o "$work/time" "$work/memory"
	check "peak RSS is that of time(1)" field_in peak_rss none $median \
		$(($(cat "$work/time") - 1024)) $(($(cat "$work/time") + 1024))
fi
compare -b none --baseline none -n 1 -w 0 --csv -- sh -c "$work/memory; true"
check "a child's peak counts" field_in peak_rss none $median 65536 72000
compare -b none --baseline none -n 1 -w 0 --csv -- \
	sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'
check "user time is there" field_in user none $low 0.001 1000

compare -b none --baseline none -n 1 -w 0 -- sh -c 'sleep 1000 & echo $! >"$0"' "$work/pid"
check "what a command leaves running is ended" \
	[ ! -e "/proc/$(cat "$work/pid")" ]

echo hello >"$work/in"
compare -b a -n 2 -w 0 -m 'lines=([0-9]+)' --csv -- wc -l <"$work/in"
check "each run reads stdin from its start" field_is lines a $low 1

compare -b a -n 1 -w 0 --prepare "echo {backend} >$work/made" \
	--cleanup "mv $work/made $work/cleaned-{backend}" -- cat "$work/made"
check "prepare comes before each run" status_is 0
check "cleanup comes after each run" [ -e "$work/cleaned-a" ]

compare -b a -n 2 -w 0 -m 'x=x([0-9]+)' --json="$work/1.json" -- echo x1
compare -b a,b -n 3 -w 0 -m 'x=x([0-9]+)' --json="$work/2.json" -- echo x3
check "JSON in a file leaves the table on stdout" out_has 'Mann-Whitney'
compare --from "$work/1.json" --csv
check "results are read back" field_is x a $median 1
compare --from "$work/1.json" --from "$work/2.json" --csv
check "runs of several files are pooled" field_is x a $runs 5
check "backends of several files are pooled" field_is x b $runs 3
for points in 8,2 4; do
	compare -b a -n 1 -w 0 --sweep n=$points -m 'x=x([0-9]+)' \
		--json="$work/sweep-$points.json" -- echo x1
done
compare --from "$work/sweep-8,2.json" --from "$work/sweep-4.json" --csv
check "points of several files are in order" \
	[ "$(cut -d, -f1 "$work/out" | uniq | tr '\n' ' ')" = "n 2 4 8 " ]
compare --from "$work/2.json" --markdown
check "Markdown has a row for each backend" out_has '^\| b \|'
echo '{"kind": "other"}' >"$work/3.json"
compare --from "$work/3.json"
check "a file that is no results is refused" status_is 3
check "the refusal names it" err_has 3.json

if command -v gnuplot >/dev/null; then
	compare --from "$work/2.json" --html="$work/page.html" \
		--plot "$work/plot.png"
	check "plots are drawn" status_is 0
	check "the page holds a drawing" grep -q '<svg' "$work/page.html"
	check "the page needs no other file" \
		[ -z "$(grep -oE '(src|href)="(http|/)[^"]*' "$work/page.html")" ]
	check "the plot is a PNG" \
		[ "$(head -c 4 "$work/plot.png" | tail -c 3)" = PNG ]
	compare --from "$work/2.json" --plot "$work/plot.gif"
	check "other kinds of plot are refused" status_is 3
fi

# The server form.
cat >"$work/server.sh" <<'E'
echo "backend $ALLOC_BACKEND" >"$1"
trap 'echo stopped >>"$1"; exit 0' TERM
echo ready now
while :; do sleep 0.05; done
E
server="exec sh $work/server.sh $work/server"
compare -b a -n 1 -w 0 --server "$server" --ready line='ready n.w' \
	--load "echo load 5; grep -c fakeshim /proc/self/maps; true" \
	-m 'load=load ([0-9]+)' -m 'shim=^([0-9]+)' --csv
check "the load's output has the metric" field_is load a $median 5
check "the load is outside the shim" field_is shim a $median 0
check "the server is inside the backend" grep -q 'backend a' "$work/server"
check "the server was stopped by the signal" grep -q stopped "$work/server"

compare -b a -n 1 -w 0 --server "$server" --ready command=true --load true \
	--json
check "memory is sampled over time" out_has rss_over_time
compare -b a -n 1 -w 0 --server 'echo gone >&2; exit 4' --ready line=never \
	--load true
check "a server that ends early is told" \
	out_has 'ended before it was ready: exit status 4: gone'
compare -b a -n 1 -w 0 --server 'sleep 1000' --ready line=never \
	--ready-timeout 0.1 --load true
check "a server that is never ready is told" out_has 'not ready after 0.1 s'
compare -b a -n 1 -w 0 --server "$server" --ready line=ready --load 'exit 9'
check "a failing load is told" out_has 'load: exit status 9'
compare -b a -n 1 -w 0 --server "$server" --ready line=ready \
	--load 'kill -9 {pid}; sleep 0.2'
check "a server that dies under load is told" \
	out_has 'ended during the load: killed by SIGKILL'

for wrong in '--' '--runs 0 -- true' '--runs x -- true' '--server x' \
	'--server x --load y' '-b a,a -- true' '--metric x -- true' \
	'--json --csv -- true' '--stop-signal NOSUCH -- true' \
	'--baseline nosuch -b a -- true' '--show nosuch -b a -- true'; do
	compare $wrong
	check "wrong usage: $wrong" status_is 2
	check "one line and a hint: $wrong" err_lines 2
done

finish
