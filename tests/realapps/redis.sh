#!/bin/bash
# SPDX-License-Identifier: MIT
#
# redis.sh - redis-server: redis-benchmark SET/GET/LPUSH at -P 1 and 16, fragmentation phase, BGSAVE under load
# packages: redis-server redis-tools python3
# env: SCALE, KEYS (default 1000000*SCALE)
# NOTE Debian's redis-server is linked with libjemalloc.so.2: with no preload it runs on jemalloc.
# For a glibc base line preload /lib/x86_64-linux-gnu/libc.so.6.
. "$(dirname "$0")/common.sh"
UNIT=ops; HIB=1; S=$W/s; KEYS=${KEYS:-$(awk "BEGIN{print int(1000000*$SCALE)}")}
pstart P "$LOG" redis-server --port 0 --unixsocket "$S" --dir "$W" --save '' --appendonly no --daemonize no --loglevel notice --io-threads 1
rc() { redis-cli -s "$S" "$@"; }
waitfor 20 rc ping || { bad "redis did not start"; tail -3 "$LOG"; finish; }
chkmap "$P"; say "mem_allocator=$(rc info memory | tr -d '\r' | sed -n 's/mem_allocator://p') rss=$(rss "$P")"
LG=0; N=0
for p in 1 16; do
  n=$(awk "BEGIN{print int(($p==1?60000:400000)*$SCALE)}")
  redis-benchmark -s "$S" -t set,get,lpush -P $p -n $n -c 20 -d 100 -r 100000 --csv >"$W/b" 2>>"$LOG" || bad "redis-benchmark"
  while IFS=, read -r t v _; do t=${t//\"/}; v=${v//\"/}; [ "$t" = test ] && continue
    echo "POINT workload=$WL series=$t x=P$p value=$v unit=ops rss_kb=$(rss "$P")"; LG=$(awk "BEGIN{print $LG+log($v)}"); N=$((N+1)); done <"$W/b"
  alive "$P" || { bad "redis died"; finish; }
done
[ $N = 6 ] && METRIC=$(awk "BEGIN{printf \"%.0f\", exp($LG/$N)}") || bad "only $N results"
rc flushall >/dev/null
cat >"$W/frag.py" <<'PY'
import socket, sys, random, zlib, threading
path, n, phase = sys.argv[1], int(sys.argv[2]), sys.argv[3]
s = socket.socket(socket.AF_UNIX); s.connect(path)
blob = random.Random(1).randbytes(8192).hex().encode()
def val(i, ph):
    r = zlib.crc32(b"%d:%d" % (i, ph))
    ln = 16 + r % 400 if ph == 0 else 450 + r % 600
    o = (r >> 8) % 8000
    return blob[o:o+ln]
def setc(i, ph):
    k = b"k:%d" % i; v = val(i, ph)
    return b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (len(k), k, len(v), v)
def delc(i):
    k = b"k:%d" % i
    return b"*2\r\n$3\r\nDEL\r\n$%d\r\n%s\r\n" % (len(k), k)
def keep(i): return zlib.crc32(b"d%d" % i) % 5 == 0
class Rd:
    def __init__(s_): s_.lines = 0
def drain(cnt):
    got = 0
    while got < cnt:
        b = s.recv(1 << 18)
        if not b: print("EOF"); sys.exit(1)
        if b"-ERR" in b or b"-OOM" in b or b"-MIS" in b: print("ERR", b[:100]); sys.exit(1)
        got += b.count(b"\n")
def stream(gen, batch=2000):
    buf = []; c = 0
    for x in gen:
        buf.append(x)
        if len(buf) == batch:
            s.sendall(b"".join(buf)); drain(batch); buf = []
    if buf: s.sendall(b"".join(buf)); drain(len(buf))
if phase == "fill": stream(setc(i, 0) for i in range(n))
elif phase == "del": stream(delc(i) for i in range(n) if not keep(i))
elif phase == "refill": stream(setc(i, 1) for i in range(n) if not keep(i) and i % 2 == 0)
elif phase == "check":
    f = s.makefile("rb"); badn = 0; tot = 0
    for i in range(0, n, max(1, n // 20000)):
        k = b"k:%d" % i
        s.sendall(b"*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n" % (len(k), k))
        h = f.readline(); ln = int(h[1:])
        got = None
        if ln >= 0: got = f.read(ln + 2)[:-2]
        want = val(i, 0) if keep(i) else (val(i, 1) if i % 2 == 0 else None)
        tot += 1
        if got != want: badn += 1
    print(f"checked={tot} bad={badn}"); sys.exit(1 if badn else 0)
PY
frag() { local a b; a=$(now); python3 "$W/frag.py" "$S" "$KEYS" "$1" >"$W/f.out" 2>&1 || bad "frag $1: $(tail -1 "$W/f.out")"; b=$(now)
  local u; u=$(rc info memory | tr -d '\r' | sed -n 's/^used_memory://p'); local r; r=$(rss "$P")
  echo "POINT workload=$WL series=frag x=$1 value=$(calc "$b-$a") unit=s rss_kb=$r used_kb=$((u/1024)) rss_over_used=$(calc "$r*1024/$u")"; }
frag fill; frag del; frag refill; frag check
RSSEND=$(rss "$P")
# BGSAVE (fork of the big heap) while being written to
redis-benchmark -s "$S" -t set -P 4 -n "$(awk "BEGIN{print int(150000*$SCALE)}")" -c 8 -d 200 -r 200000 -q >"$W/b2" 2>&1 & L=$!
sleep 0.2; rc bgsave >/dev/null
for ((i=0;i<600;i++)); do [ "$(rc info persistence | tr -d '\r' | sed -n 's/rdb_bgsave_in_progress://p')" = 0 ] && break; sleep 0.1; done
[ "$(rc info persistence | tr -d '\r' | sed -n 's/rdb_last_bgsave_status://p')" = ok ] || bad "bgsave status"
wait $L || bad "load during bgsave"
redis-check-rdb "$W/dump.rdb" >"$W/chk" 2>&1 || bad "redis-check-rdb"
grep -aq 'RDB looks OK' "$W/chk" || bad "rdb not ok"
env ${PENV[@]+"${PENV[@]}"} redis-check-rdb "$W/dump.rdb" >"$W/chk2" 2>&1 || bad "redis-check-rdb under preload"
RSS=$(hwm "$P"); CPU=$(cpus "$P")
rc shutdown nosave >/dev/null 2>&1; pstop "$P" TERM 20; [ "$STOPRC" = 0 ] || bad "redis exit $STOPRC"
chklog "$LOG"; grep -aE 'REDIS BUG REPORT|crashed' "$LOG" && bad "crash report"
finish
