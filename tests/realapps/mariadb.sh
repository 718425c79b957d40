#!/bin/bash
# SPDX-License-Identifier: MIT
#
# mariadb.sh - MariaDB server under sysbench, threads 1..32 (read-only point queries)
# packages: mariadb-server mariadb-client sysbench
# env: DURATION  seconds per (test, thread count) point        (default 2)
#      THREADS   thread counts                                  (default "1 2 4 8 16 32")
#      TESTS     sysbench scripts                               (default "oltp_read_only oltp_point_select")
# Unix socket only; data directory made once (no preload) and copied for each run.
. "$(dirname "$0")/common.sh"; WL=${WLNAME:-$WL}
D=${DURATION:-2}; THREADS=${THREADS:-1 2 4 8 16 32}; TESTS=${TESTS:-oltp_read_only oltp_point_select}
UNIT=tps; HIB=1
TABLES=4; ROWS=25000
SRC=$DATA/mariadb
srvopts=(--no-defaults --user=root --skip-networking --skip-log-bin --performance-schema=OFF
  --innodb-buffer-pool-size=64M --innodb-log-file-size=16M --innodb-flush-log-at-trx-commit=0
  --innodb-flush-method=fsync --innodb-doublewrite=0 --max-connections=200 --table-open-cache=400 --plugin-maturity=unknown
  --query-cache-type=0 --query-cache-size=0)
sb() { sysbench --db-driver=mysql --mysql-socket="$1" --mysql-user=root --mysql-db=sbtest --tables=$TABLES --table-size=$ROWS "${@:2}"; }
sql() { mariadb --no-defaults --socket="$S" --user=root -N -B -e "$1"; }
SUMQ='SELECT COUNT(*),SUM(k),SUM(CRC32(c)),SUM(CRC32(pad)) FROM sbtest1; SELECT COUNT(*),SUM(k),SUM(CRC32(c)) FROM sbtest4; SELECT SUM(CRC32(s)) FROM (SELECT GROUP_CONCAT(c ORDER BY c) s FROM sbtest2 GROUP BY k MOD 997) t'
if [ ! -e "$SRC/ok" ]; then
  ( flock 9; [ -e "$SRC/ok" ] && exit 0
  say "preparing $SRC"; rm -rf "$SRC"; mkdir -p "$SRC"
  mariadb-install-db --no-defaults --user=root --datadir="$SRC/d" --auth-root-authentication-method=normal --skip-test-db --innodb-log-file-size=16M >"$SRC/init.log" 2>&1 || exit 1
  S=$W/p.sock; mariadbd "${srvopts[@]}" --datadir="$SRC/d" --socket="$S" --pid-file="$W/p.pid" >"$SRC/prep.log" 2>&1 & P=$!
  waitfor 60 mariadb --no-defaults --socket="$S" --user=root -e 'select 1'
  sql 'CREATE DATABASE sbtest'
  sb "$S" --threads=2 oltp_read_only prepare >>"$SRC/prep.log" 2>&1
  sql "USE sbtest; SET SESSION group_concat_max_len=100000000; $SUMQ" >"$SRC/sum"
  kill -TERM $P; wait $P; [ $(wc -l <"$SRC/sum") = 3 ] && touch "$SRC/ok" ) 9>"$DATA/.mariadb.lock" || { bad "prepare failed"; finish; }
fi
[ -e "$SRC/ok" ] || { bad "prepare failed"; finish; }
cp -a --reflink=auto "$SRC/d" "$W/d"
S=$W/s.sock
pstart P "$LOG" mariadbd "${srvopts[@]}" --datadir="$W/d" --socket="$S" --pid-file="$W/s.pid"
waitfor 60 mariadb --no-defaults --socket="$S" --user=root -e 'select 1' || { bad "server did not start"; chklog "$LOG"; tail -3 "$LOG"; finish; }
chkmap "$P"
say "rss after start: $(rss "$P") kB"
for ((i=1;i<=200;i++)); do echo "SELECT id,k,c FROM sbtest$((i%4+1)) WHERE id=$((i*7919%ROWS+1));"; done >"$W/smack.sql"
LG=0; LC=0; N=0
for t in $TESTS; do
  for n in $THREADS; do
    c0=$(cpus "$P")
    if [ $t = smack ]; then # fixed number of select-by-key queries, like super-smack's select-key
      nq=$(awk "BEGIN{print int($D*6000/$n)*$n}")
      timeout 200 mariadb-slap --no-defaults --socket="$S" --user=root --create-schema=sbtest --query="$W/smack.sql" --delimiter=';' --concurrency=$n --number-of-queries=$nq --iterations=1 --csv="$W/sl" >"$W/sl.out" 2>&1 & L=$!
    else sb "$S" --threads=$n --time=$D --report-interval=0 $t run >"$W/sb.out" 2>&1 & L=$!; fi
    sleep "$([ $t = smack ] && echo 0.4 || calc "$D*0.9")"; R=$(rss "$P")
    wait $L || bad "sysbench $t $n failed"
    [ $t = smack ] && { awk -F, -v n=$nq '{t=$3; printf "transactions: %d (%.2f per sec.)\nignored errors: 0\n", n, n/(t>0?t:0.001)}' "$W/sl" >"$W/sb.out"; rm -f "$W/sl"; }
    c1=$(cpus "$P"); tx=$(sed -n 's/.*transactions: *\([0-9]*\) .*/\1/p' "$W/sb.out"); us=$(calc "($c1-$c0)*1e6/(${tx:-0}+0.001)")
    tps=$(sed -n 's/.*transactions: .*(\([0-9.]*\) per sec.*/\1/p' "$W/sb.out")
    err=$(sed -n 's/.*ignored errors: *\([0-9]*\).*/\1/p' "$W/sb.out")
    [ "${err:-x}" = 0 ] || bad "sysbench errors=$err"
    alive "$P" || { bad "server died in $t $n"; break 2; }
    echo "POINT workload=$WL series=$t x=$n value=${tps:-0} unit=tps rss_kb=$R cpu_us=$us"
    [ "${tx:-0}" -gt 0 ] || bad "no transactions at $t $n"
    LC=$(awk "BEGIN{print $LC+log($us+1e-9)}"); LG=$(awk "BEGIN{print $LG+log(${tps:-0}+1e-9)}"); N=$((N+1)); RSSEND=$R
  done
done
[ $N -gt 0 ] && METRIC=$(awk "BEGIN{printf \"%.1f\", exp($LG/$N)}") && CPU=$(awk "BEGIN{printf \"%.2f\", exp($LC/$N)}")
# correctness: whole-table checksums and a big sort/group must equal those of the preparation
sql "USE sbtest; SET SESSION group_concat_max_len=100000000; $SUMQ" >"$W/sum" 2>>"$LOG"
cmp -s "$W/sum" "$SRC/sum" || bad "table checksums differ"
sql 'CHECK TABLE sbtest.sbtest1' | grep -q 'status.*OK' || bad "check table"
RSS=$(hwm "$P")
pstop "$P" TERM 30; [ "$STOPRC" = 0 ] || bad "mariadbd exit $STOPRC"
LOGIGNORE='signal 15' chklog "$LOG"
finish
