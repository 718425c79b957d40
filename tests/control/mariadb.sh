#!/bin/bash
# SPDX-License-Identifier: MIT
#
# mariadb.sh - MariaDB under sysbench goes through the backends ten times.
#
#   mariadb.sh TOOL BACKEND...
#
# It starts under jemalloc, whose static TLS does not fit later. Every switch
# must be taken, sysbench and the server must end well, and in the end every
# backend but the first and the last must hold less than a MiB. Exit status 77
# without MariaDB or sysbench.
set -u
tool=$1
shift
for program in mariadbd mariadb mariadb-install-db sysbench; do
	command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done
work=$(mktemp -d)
socket=$work/socket
server=
trap 'kill -KILL $server 2>/dev/null; rm -rf "$work"' EXIT
fail() { echo "mariadb.sh: $*" >&2; exit 1; }

sql() { mariadb --no-defaults --socket="$socket" --user=root -e "$1" >/dev/null 2>&1; }
bench() {
	sysbench --db-driver=mysql --mysql-socket="$socket" --mysql-user=root \
		--mysql-db=sbtest --tables=2 --table-size=5000 "$@"
}

mariadb-install-db --no-defaults --user=root --datadir="$work/data" \
	--auth-root-authentication-method=normal --skip-test-db \
	>"$work/install" 2>&1 || fail "cannot make a database"
ALLOC_CONTROL=1 "$tool" run --backend jemalloc -- mariadbd --no-defaults \
	--user=root --skip-networking --skip-log-bin --datadir="$work/data" \
	--socket="$socket" --pid-file="$work/pid" \
	--innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 \
	>"$work/log" 2>&1 &
server=$!
for ((i = 0; i < 600; i++)); do
	sql 'select 1' && break
	sleep 0.1
done
sql 'create database sbtest' || fail "the server did not start"
bench --threads=2 oltp_read_only prepare >/dev/null || fail "cannot prepare"

bench --threads=8 --time=0 --events=20000 oltp_read_only run >"$work/bench" 2>&1 &
load=$!
for ((round = 0; round < 10; round++)); do
	for backend in "$@"; do
		"$tool" switch $server "$backend" >>"$work/switch" 2>&1 ||
			fail "switch to $backend: $(tail -n 1 "$work/switch")"
		sleep 0.1
	done
done
wait $load || fail "sysbench: $(tail -n 1 "$work/bench")"
sql 'select 1' || fail "the server is gone"

"$tool" status --json $server >"$work/status" || fail "no status"
python3 - "$work/status" "${!#}" <<'PY' || fail "a backend did not drain"
import json, sys
status = json.load(open(sys.argv[1]))
for owner in status["owners"]:
    print(owner["name"], owner.get("live_bytes"))
    if owner["name"] not in (sys.argv[2], "jemalloc", "system"):
        assert owner["live_bytes"] < 1 << 20, owner
PY
kill -TERM $server
wait $server || fail "the server ended with status $?"
