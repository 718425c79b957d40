#!/bin/bash
# SPDX-License-Identifier: MIT
#
# matrix.sh NAME=LIB.so [NAME=LIB.so ...] - compare several libraries side by side, interleaved (A B C A B C …)
#   NAME= (empty) is no preload; the first one is the base of the ratios (default list below)
# env: REPS (3), WORKLOADS, DURATION, SCALE, OUT (directory for raw results; an existing one is continued)
#      LOCK=FILE (none by default), HOLD=480 (seconds the lock is kept before it is given up and queued for again;
#      never given up inside one round of one workload), TIMEOUT per run (400), BUDGET (seconds; stop starting new
#      workload rounds after that), PAUSE (file: while it exists, wait before each run)
# Summary of what is there at any time: python3 report.py OUT
RA=$(cd "$(dirname "$0")" && pwd); L=/usr/lib/x86_64-linux-gnu
[ $# -gt 0 ] || set -- system= jemalloc=$L/libjemalloc.so.2 tcmalloc=$L/libtcmalloc_minimal.so.4 mimalloc=$L/libmimalloc.so.2.0
REPS=${REPS:-3}; WORKLOADS=${WORKLOADS:-$(cat "$RA/workloads.txt")}; OUT=${OUT:-${TMPDIR:-/tmp}/realapps/matrix.$(date +%H%M%S)}; LOCK=${LOCK-}; HOLD=${HOLD:-480}
mkdir -p "$OUT"; echo "$*" >"$OUT/libs"; echo "# raw results in $OUT"; held=0
take() { [ -z "$LOCK" ] && return; [ $held = 1 ] && [ $((SECONDS-since)) -lt "$HOLD" ] && return
  [ $held = 1 ] && { exec 8>&-; held=0; sleep 1; }
  exec 8>>"$LOCK"; flock 8; held=1; since=$SECONDS; echo "$(date +%T) lock taken"; [ -n "${PAUSEME:-}" ] && touch "$PAUSEME"; }
for ((r=1;r<=REPS;r++)); do for w in $WORKLOADS; do
  [ -n "${BUDGET:-}" ] && [ $SECONDS -gt "$BUDGET" ] && break 2
  take
  for nl in "$@"; do n=${nl%%=*}; l=${nl#*=}; f=$OUT/$w.$n.$r
    [ -s "$f" ] && grep -aq ^RESULT "$f" && continue
    while [ -n "${PAUSE:-}" ] && [ -e "$PAUSE" ]; do sleep 2; done
    la=$(cut -d' ' -f1 /proc/loadavg); timeout -k 60 ${TIMEOUT:-400} "$RA/$w.sh" "$l" >"$f" 2>&1 8>&-; rc=$?
    grep -aq ^RESULT "$f" || echo "RESULT workload=$w ok=0 metric=0 unit=none higher_is_better=0 rss_kb=0 rss_end_kb=0 cpu_cost=0 why=rc$rc" >>"$f"
    echo "$(date +%T) load=$la round=$r $n $(grep -a ^RESULT "$f" | tail -1)"
  done
done; done
[ $held = 1 ] && exec 8>&-; [ -n "${PAUSEME:-}" ] && rm -f "$PAUSEME"
python3 "$RA/report.py" "$OUT"
