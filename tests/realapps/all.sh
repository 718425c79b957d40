#!/bin/bash
# SPDX-License-Identifier: MIT
#
# all.sh LIB.so [K=V ...] - run every workload once under LIB and print a table; exit 1 if any failed
# env: WORKLOADS (default: all), DURATION, SCALE.  "./all.sh ''" is the base line without preload.
RA=$(cd "$(dirname "$0")" && pwd); LIB=${1-}; shift
WORKLOADS=${WORKLOADS:-$(cat "$RA/workloads.txt")}; rc=0
OUT=${OUT:-$(mktemp -d /tmp/realapps-all.XXXXXX)}
printf '%-12s %-3s %12s %-4s %10s %10s %12s  %s\n' workload ok metric unit rss_kB end_kB cpu_cost why
for w in $WORKLOADS; do
  "$RA/$w.sh" "$LIB" "$@" >"$OUT/$w.out" 2>&1; r=$(grep -a '^RESULT' "$OUT/$w.out" | tail -1)
  f() { echo "$r" | tr ' ' '\n' | sed -n "s/^$1=//p"; }
  [ "$(f ok)" = 1 ] || rc=1
  printf '%-12s %-3s %12s %-4s %10s %10s %12s  %s\n' "$w" "$(f ok)" "$(f metric)" "$(f unit)" "$(f rss_kb)" "$(f rss_end_kb)" "$(f cpu_cost)" "$(f why)"
done; echo "# outputs in $OUT"; exit $rc
