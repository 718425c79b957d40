#!/bin/bash
# SPDX-License-Identifier: MIT
#
# guide.sh - the plugin of docs/backend-guide.md, built from the text itself.
#
#   guide.sh SOURCE_DIR TOOL CC
#
# The code block is compiled as the guide says, and a program with threads,
# forks and aligned blocks runs under it.
set -eu
source=$1 tool=$2 cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n '/^```c$/,/^```$/p' "$source/docs/backend-guide.md" | sed '/^```/d' \
	>"$work/pow2.c"
[ -s "$work/pow2.c" ]
"$cc" -O2 -Wall -Wextra -Werror -shared -fPIC -I "$source/include" \
	-o "$work/pow2.so" "$work/pow2.c"
export ALLOC_PLUGIN_PATH=$work ALLOC_STRICT=1
"$tool" list | grep -q '^pow2 '
out=$("$tool" run --verbose --backend pow2 -- /usr/bin/env python3 -c '
import os, threading
def work():
    for i in range(200):
        b = [bytes(n) for n in range(0, 5000, 7)]
threads = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in threads]
for i in range(5):
    pid = os.fork()
    if not pid:
        os._exit(len(bytearray(100000)) != 100000)
    assert os.waitpid(pid, 0)[1] == 0
[t.join() for t in threads]
print("served by", [l for l in open("/proc/self/maps") if "pow2.so" in l] != [])
' 2>&1)
grep -q "backend pow2 ($work/pow2.so)" <<<"$out"
grep -q 'served by True' <<<"$out"
