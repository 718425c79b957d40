# SPDX-License-Identifier: MIT
"""A redis-server under load is switched from backend to backend.

switching.py TOOL SHIM JEMALLOC BACKEND...

It is started under the shim, then goes through the backends ten times, while
redis-benchmark works on it without a pause. Each owner must drain once it is
no longer the active one and redis has dropped its data.
"""
import os
import shutil
import socket
import subprocess
import sys

from harness import Harness, until

ROUNDS = 10
DRAINED = 512 * 1024  # bytes; what a server holds on to from its start

h = Harness(*sys.argv[1:3])
jemalloc, backends = sys.argv[3], sys.argv[4:]
if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
    print("skipped: no redis here")
    sys.exit(77)

path = os.path.join(h.work, "redis.sock")


def redis(command):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(command.encode() + b"\r\n")
        return s.recv(1000).decode().strip()


def redis_answers():
    try:
        return redis("PING") == "+PONG"
    except OSError:
        return False


def redis_is_empty():
    return redis("DBSIZE") == ":0"


server = h.launch("redis-server", "--port", "0", "--unixsocket", path,
                  "--save", "", "--dir", h.work, "--io-threads", "2",
                  "--daemonize", "no", preload=jemalloc, ALLOC_CONTROL="1",
                  ALLOC_BACKEND="system")
h.check("redis starts", until(redis_answers))
load = subprocess.Popen(
    ["redis-benchmark", "-s", path, "-q", "-l", "-c", "10", "-r", "20000",
     "-d", "300", "-t", "set,get,lpush,lpop,sadd,hset,mset"],
    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
h.programs.append(load)

for turn in range(ROUNDS):
    for name in backends:
        before = h.status(server)
        result = h.run("switch", server.pid, name)
        h.check(f"{turn + 1}: switched to {name}", result.returncode == 0,
                result)
        h.check(f"{turn + 1}: {name} serves the load", until(
            lambda: h.status(server)[name]["mapped_bytes"] >= 65536))
        h.check(f"{turn + 1}: redis answers", redis_answers())

h.check("the load never stopped", load.poll() is None)
load.terminate()
output = load.communicate()[0]
h.check("the load met no error", "rror" not in output, output[-500:])

result = h.run("switch", server.pid, "system")
h.check("switched to system", result.returncode == 0, result)
redis("FLUSHALL SYNC")
h.check("redis drops its data", until(redis_is_empty))
h.run("trim", server.pid)
for name in backends:
    figures = h.status(server)[name]
    if name == "system" or figures["live_bytes"] is None:
        continue
    h.check(f"{name} has drained", until(
        lambda: h.status(server)[name]["live_bytes"] < DRAINED),
        h.status(server)[name])
print(h.run("status", server.pid).stdout)
server.terminate()
h.check("redis ends well", server.wait() == 0, server.stderr.read())
h.check("nobody complained", "allocmux:" not in server.stderr.read())
h.finish()
