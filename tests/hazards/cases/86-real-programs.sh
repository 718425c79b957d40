#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Everyday programs with threads, fork, exec, dlopen. class: P
. "$HZ_CASES/hz.sh"
needs python3 perl xz g++ git
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
r() {
	under "$@" >"$d/o" 2>"$d/e"
	rc=$?
	[ $rc = 0 ] && [ ! -s "$d/e" ] ||
		fail "$1: rc=$rc $(head -n 1 "$d/e")"
}
r bash -c 'x=$(for i in 1 2 3; do echo $i | cat; done); [ "$x" = "1
2
3" ]'
r python3 -c '
import threading, subprocess, os, json, zlib
def work():
    for i in range(200):
        json.loads(json.dumps([{"a": [j] * 10} for j in range(50)]))
        zlib.compress(b"x" * 50000)
threads = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in threads]
for i in range(5):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        raise SystemExit(1)
    subprocess.check_output(["echo", "x"])
[t.join() for t in threads]'
r perl -e 'my %h; $h{$_} = "x" x ($_ % 500) for 1 .. 50000; my $p = fork;
	if (!$p) { exit 0 } waitpid $p, 0; exit($? >> 8)'
r sh -c 'seq 200000 | sort --parallel=2 -S 20M -r | tail -1 | grep -qx 1'
r sh -c 'seq 100000 | gzip -9 | gunzip | md5sum >/dev/null
	tar cf - /etc/passwd 2>/dev/null | xz -T2 | xz -d | tar tf - >/dev/null'
cat >"$d/a.cc" <<'C'
#include <map>
#include <vector>
int main() { std::map<int, std::vector<int>> m; return m.size(); }
C
r g++ -O1 -o "$d/a" "$d/a.cc"
r "$d/a"
r git --version
r sh -c "cd $d && git init -q x && cd x && echo a >a && git add a &&
	git -c user.name=n -c user.email=e@x commit -qm m"
