#!/bin/bash
# SPDX-License-Identifier: MIT
# PostgreSQL under sysbench's read-only transactions, over 1 to 32 clients.
# The work is fixed, so that CPU time tells as much as the rate: it suffers less
# from whatever else the machine does.
#
# It does not run as root: root starts it as the user postgres.
. "$(dirname "$0")/common.sh"
need sysbench sysbench
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
need "${bin:-/usr/lib/postgresql}/postgres" postgresql
port=${POSTGRES_PORT:-54961}
postgres_data=$data/postgres
as=
if [ "$(id -u)" = 0 ]; then
	as="setpriv --reuid postgres --regid postgres --clear-groups --"
	mkdir -p "$postgres_data"
	chown postgres "$postgres_data"
fi
server="exec $as $bin/postgres -D $postgres_data/db -h 127.0.0.1 -p $port
 -k $postgres_data -c shared_buffers=64MB -c max_connections=120 -c fsync=off
 -c autovacuum=off -c jit=off"
server=${server//$'\n'/}
sysbench="sysbench --db-driver=pgsql --pgsql-host=127.0.0.1 --pgsql-port=$port
 --pgsql-user=postgres --pgsql-db=sbtest --tables=4 --table-size=25000"
sysbench=${sysbench//$'\n'/}
ready="$bin/pg_isready -q -h 127.0.0.1 -p $port"

if [ ! -e "$postgres_data/made" ]; then
	rm -rf "$postgres_data/db"
	$as "$bin/initdb" -D "$postgres_data/db" -U postgres -A trust \
		--locale=C -E UTF8 >"$data/postgres.log"
	sh -c "$server" >>"$data/postgres.log" 2>&1 &
	pid=$!
	wait_for 60 $ready
	"$bin/createdb" -h 127.0.0.1 -p $port -U postgres sbtest
	$sysbench oltp_read_only prepare >>"$data/postgres.log"
	"$bin/vacuumdb" -q -z -h 127.0.0.1 -p $port -U postgres sbtest
	kill -INT $pid
	wait $pid
	touch "$postgres_data/made"
fi
compare --sweep threads=${THREADS:-1,2,4,8,16,32} \
	--server "$server" --stop-signal INT --ready "command=$ready" \
	--load "$sysbench --threads={threads} --report-interval=0 \
--time=0 --events=${EVENTS:-4000} oltp_read_only run" \
	--metric 'tps:max=transactions: .*\(([0-9.]+) per sec' \
	--metric 'p95_ms:min=95th percentile: *([0-9.]+)' \
	--show tps,p95_ms,user,sys,peak_rss,end_rss "$@"
