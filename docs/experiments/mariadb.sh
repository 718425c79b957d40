# SPDX-License-Identifier: MIT
# mariadb.sh - a MariaDB server with sysbench's tables; source after common.sh.
# Sets $mariadb_server, the command, and $mariadb_client, its options.
PATH=$PATH:/usr/sbin
need mariadbd mariadb-server
need sysbench sysbench
need mariadb-admin mariadb-client
mariadb_data=$data/mariadb
mariadb_port=${MARIADB_PORT:-33961}
mariadb_client="--host=127.0.0.1 --port=$mariadb_port --user=bench"
sysbench_mysql="--db-driver=mysql --mysql-host=127.0.0.1
 --mysql-port=$mariadb_port --mysql-user=bench --mysql-db=sbtest
 --tables=4 --table-size=25000"
sysbench_mysql=${sysbench_mysql//$'\n'/}
as_user=
[ "$(id -u)" != 0 ] || as_user=--user=root
mariadb_server="exec mariadbd --no-defaults $as_user --datadir=$mariadb_data
 --bind-address=127.0.0.1 --port=$mariadb_port --socket=$mariadb_data/socket
 --pid-file=$mariadb_data/pid --skip-log-bin --skip-name-resolve
 --performance-schema=OFF --innodb-buffer-pool-size=64M
 --innodb-log-file-size=16M --innodb-flush-log-at-trx-commit=0
 --innodb-doublewrite=0 --max-connections=200 --query-cache-type=0"
mariadb_server=${mariadb_server//$'\n'/}

mariadb_make() {
	local pid root="--no-defaults --socket=$mariadb_data/socket --user=root"

	rm -rf "$mariadb_data"
	mkdir -p "$mariadb_data"
	mariadb-install-db --no-defaults $as_user --datadir="$mariadb_data" \
		--auth-root-authentication-method=normal --skip-test-db \
		>"$data/mariadb.log" 2>&1
	sh -c "$mariadb_server" >>"$data/mariadb.log" 2>&1 &
	pid=$!
	wait_for 60 mariadb-admin $root ping
	mariadb $root -e "CREATE DATABASE sbtest;
		CREATE USER bench@'127.0.0.1';
		GRANT ALL ON sbtest.* TO bench@'127.0.0.1'"
	sysbench $sysbench_mysql oltp_read_only prepare >>"$data/mariadb.log"
	kill -TERM $pid
	wait $pid
	touch "$mariadb_data/made"
}
[ -e "$mariadb_data/made" ] || mariadb_make
