#!/bin/bash
# SPDX-License-Identifier: MIT
#
# postgres.sh - PostgreSQL under sysbench oltp_read_only and pgbench -S, clients 1..32
# packages: postgresql-15 postgresql-contrib sysbench util-linux
# env: DURATION seconds per point (default 2), THREADS (default "1 2 4 8 16 32"), TESTS
# The server runs as user postgres: LIB must be readable by that user.
# rss_kb/rss_end_kb: PSS summed over postmaster and backends (processes share memory).
. "$(dirname "$0")/common.sh"
D=${DURATION:-2}; THREADS=${THREADS:-1 2 4 8 16 32}; TESTS=${TESTS:-oltp_read_only pgbench_select}
UNIT=tps; HIB=1; TABLES=4; ROWS=25000
B=/usr/lib/postgresql/15/bin; SRC=$DATA/postgres
AS=(setpriv --reuid postgres --regid postgres --clear-groups --)
chown postgres "$W"; chmod 755 "$W"
[ -z "$LIB" ] || "${AS[@]}" test -r "$LIB" || { bad "user postgres cannot read $LIB"; finish; }
conf() { cat <<E
listen_addresses=''
unix_socket_directories='$1'
shared_buffers=64MB
max_connections=120
fsync=off
full_page_writes=off
logging_collector=off
autovacuum=off
max_wal_size=256MB
jit=off
E
}
sb() { sysbench --db-driver=pgsql --pgsql-host="$1" --pgsql-user=postgres --pgsql-db=sbtest --tables=$TABLES --table-size=$ROWS "${@:2}"; }
sql() { psql -X -q -h "$W" -U postgres -d sbtest -At -c "$1"; }
SUMQ="SELECT COUNT(*),SUM(k),SUM(hashtext(c)::bigint),SUM(hashtext(pad)::bigint) FROM sbtest1 UNION ALL SELECT COUNT(*),SUM(abalance),SUM(hashtext(filler)::bigint),SUM(bid) FROM pgbench_accounts UNION ALL SELECT count(*),sum(length(s)),sum(hashtext(s)::bigint),0 FROM (SELECT string_agg(c,',' ORDER BY c) s FROM sbtest2 GROUP BY k % 997) t"
if [ ! -e "$SRC/ok" ]; then
  ( flock 9; [ -e "$SRC/ok" ] && exit 0
  say "preparing $SRC"; rm -rf "$SRC"; mkdir -p "$SRC"; chown postgres "$SRC"
  "${AS[@]}" $B/initdb -D "$SRC/d" -U postgres -A trust --locale=C -E UTF8 >"$SRC/init.log" 2>&1 || exit 1
  conf "$W" >>"$SRC/d/postgresql.conf"
  "${AS[@]}" $B/postgres -D "$SRC/d" >"$SRC/prep.log" 2>&1 & P=$!
  waitfor 60 psql -X -h "$W" -U postgres -c 'select 1'
  psql -X -q -h "$W" -U postgres -c 'CREATE DATABASE sbtest'
  sb "$W" --threads=2 oltp_read_only prepare >>"$SRC/prep.log" 2>&1
  pgbench -h "$W" -U postgres -i -s 2 -q sbtest >>"$SRC/prep.log" 2>&1
  sql 'VACUUM ANALYZE'; sql "$SUMQ" >"$SRC/sum"
  kill -INT $P; wait $P
  [ $(wc -l <"$SRC/sum") = 3 ] && touch "$SRC/ok" ) 9>"$DATA/.postgres.lock" || { bad "prepare failed"; finish; }
fi
[ -e "$SRC/ok" ] || { bad "prepare failed"; finish; }
cp -a --reflink=auto "$SRC/d" "$W/d"; conf "$W" >>"$W/d/postgresql.conf"
"${AS[@]}" env ${PENV[@]+"${PENV[@]}"} $B/postgres -D "$W/d" >>"$LOG" 2>&1 & P=$!; PIDS+=($P)
waitfor 60 psql -X -h "$W" -U postgres -c 'select 1' || { bad "server did not start"; chklog "$LOG"; tail -3 "$LOG"; finish; }
chkmap "$P"
# client backends gone (their CPU time is then counted in the postmaster)
nokids() { local p; for p in $(kids "$P"); do tr '\0' ' ' <"/proc/$p/cmdline" 2>/dev/null | grep -q sbtest && return 1; done; return 0; }
LG=0; LC=0; N=0
for t in $TESTS; do
  for n in $THREADS; do
    c0=$(cpus "$P")
    if [ $t = pgbench_select ]; then
      timeout 120 pgbench -h "$W" -U postgres -n -S -c $n -j $((n<2?1:2)) -t $(awk "BEGIN{print int($D*3000/$n)+1}") sbtest >"$W/sb.out" 2>&1 & L=$!
    else sb "$W" --threads=$n --time=$D --report-interval=0 $t run >"$W/sb.out" 2>&1 & L=$!; fi
    sleep "$([ $t = pgbench_select ] && echo 0.3 || calc "$D*0.6")"; read -r R RA_ < <(treepss "$P"); [ "$R" -gt "$RSS" ] && RSS=$R
    wait $L || bad "load $t $n failed"
    waitfor 5 nokids; c1=$(cpus "$P")
    if [ $t = pgbench_select ]; then tx=$(sed -n 's/.*actually processed: \([0-9]*\).*/\1/p' "$W/sb.out"); tps=$(sed -n 's/^tps = \([0-9.]*\) .*/\1/p' "$W/sb.out"); err=$(sed -n 's/.*failed transactions: \([0-9]*\).*/\1/p' "$W/sb.out")
    else tx=$(sed -n 's/.*transactions: *\([0-9]*\) .*/\1/p' "$W/sb.out"); tps=$(sed -n 's/.*transactions: .*(\([0-9.]*\) per sec.*/\1/p' "$W/sb.out"); err=$(sed -n 's/.*ignored errors: *\([0-9]*\).*/\1/p' "$W/sb.out"); fi
    us=$(calc "($c1-$c0)*1e6/(${tx:-0}+0.001)"); [ "${tx:-0}" -gt 0 ] || bad "no transactions at $t $n"
    [ "${err:-x}" = 0 ] || bad "load errors=$err"
    alive "$P" || { bad "server died in $t $n"; break 2; }
    echo "POINT workload=$WL series=$t x=$n value=${tps:-0} unit=tps rss_kb=$R anon_kb=$RA_ cpu_us=$us"
    LC=$(awk "BEGIN{print $LC+log($us+1e-9)}"); LG=$(awk "BEGIN{print $LG+log(${tps:-0}+1e-9)}"); N=$((N+1)); RSSEND=$R
  done
done
[ $N -gt 0 ] && METRIC=$(awk "BEGIN{printf \"%.1f\", exp($LG/$N)}") && CPU=$(awk "BEGIN{printf \"%.2f\", exp($LC/$N)}")
sql "$SUMQ" >"$W/sum" 2>>"$LOG"; cmp -s "$W/sum" "$SRC/sum" || bad "table checksums differ"
pstop "$P" INT 30; [ "$STOPRC" = 0 ] || bad "postgres exit $STOPRC"
grep -aE 'terminated by signal|PANIC|server process .* exited' "$LOG" && bad "backend crash in log"
LOGIGNORE='received' chklog "$LOG"
finish
