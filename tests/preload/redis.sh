#!/bin/bash
# SPDX-License-Identifier: MIT
#
# redis.sh - redis-server answers redis-benchmark under every backend, both
# under it, keeps what it was given, and ends with status 0.
. "$(dirname "$0")/common.sh"
need redis-server redis-benchmark redis-cli
socket=$work/socket
server=
trap 'kill -KILL $server 2>/dev/null; rm -rf "$work"' EXIT
cli() { redis-cli -s "$socket" "$@"; }
for backend in "${backends[@]}"; do
	proves "$backend" redis-[a-z-]+ redis-server --version
	# Not by a function, so that the id is the server's.
	"$tool" run --backend "$backend" -- redis-server --port 0 --unixsocket "$socket" \
		--save '' --appendonly no --dir "$work" >log 2>&1 &
	server=$!
	for ((i = 0; i < 300; i++)); do
		[ "$(cli ping 2>/dev/null)" = PONG ] && break
		sleep 0.1
	done
	grep -q liballocmux_shim /proc/$server/maps ||
		{ tail -n 3 log; fail "$backend: the server lacks the shim"; }
	under "$backend" redis-benchmark -s "$socket" -t set,lpush,sadd \
		-n 3000 -c 10 -P 8 -d 200 -r 1000 -q >bench 2>&1 ||
		{ tail -n 3 bench; fail "$backend: redis-benchmark"; }
	[ "$(cli llen mylist)" = 3000 ] || fail "$backend: the list's length"
	cli set key "$(seq 2000)" >/dev/null
	[ "$(cli get key)" = "$(seq 2000)" ] || fail "$backend: a value differs"
	cli shutdown nosave >/dev/null 2>&1
	wait $server || { tail -n 3 log; fail "$backend: status of the server"; }
	server=
done
