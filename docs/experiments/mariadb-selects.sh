#!/bin/bash
# SPDX-License-Identifier: MIT
# MariaDB under simple selects by key, as super-smack did them: ten clients,
# each the same number of queries.
. "$(dirname "$0")/common.sh"
. "$here/mariadb.sh"
need mariadb-slap mariadb-client

queries=${QUERIES:-20000}
awk 'BEGIN {
	for (i = 1; i <= 200; i++) {
		printf "SELECT id,k,c FROM sbtest%d WHERE id=%d;\n",
			i % 4 + 1, (i * 7919) % 25000 + 1
	}
}' >"$data/selects.sql"
slap="mariadb-slap --no-defaults $mariadb_client --create-schema=sbtest
 --no-drop --query=$data/selects.sql --delimiter=';' --concurrency=10
 --number-of-queries=$queries --iterations=1"
slap=${slap//$'\n'/}
compare --server "$mariadb_server" \
	--ready "command=mariadb-admin --no-defaults $mariadb_client ping" \
	--load "$slap | awk '/Average number of seconds/ {
		print \"selects a second: \" $queries / \$(NF - 1)}'" \
	--metric 'selects:max=selects a second: ([0-9.]+)' \
	--show selects,user,sys,peak_rss,end_rss "$@"
