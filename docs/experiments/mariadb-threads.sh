#!/bin/bash
# SPDX-License-Identifier: MIT
# MariaDB under sysbench's read-only transactions, over 1 to 32 threads.
# The work is fixed, so that CPU time tells as much as the rate: it suffers less
# from whatever else the machine does.
. "$(dirname "$0")/common.sh"
. "$here/mariadb.sh"

run="sysbench $sysbench_mysql --threads={threads} --report-interval=0"
compare --sweep threads=${THREADS:-1,2,4,8,16,32} \
	--server "$mariadb_server" \
	--ready "command=mariadb-admin --no-defaults $mariadb_client ping" \
	--load "$run --time=0 --events=${EVENTS:-4000} oltp_read_only run" \
	--metric 'tps:max=transactions: .*\(([0-9.]+) per sec' \
	--metric 'p95_ms:min=95th percentile: *([0-9.]+)' \
	--show tps,p95_ms,user,sys,peak_rss,end_rss "$@"
