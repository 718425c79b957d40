# SPDX-License-Identifier: MIT
"""A server under load is switched from backend to backend, ten times round.

switching.py TOOL SHIM redis|mariadb JEMALLOC BACKEND...

No request may fail, and the server must end as ever. Each owner must drain
once it is no longer the active one and the server has dropped its data.
"""
import os
import shutil
import socket
import subprocess
import sys

from harness import Harness, until

ROUNDS = 10

h = Harness(*sys.argv[1:3])
kind, jemalloc, backends = sys.argv[3], sys.argv[4], sys.argv[5:]


def quiet(*command):
    return subprocess.run(command, env=h.env, capture_output=True, text=True)


class Redis:
    programs = ["redis-server", "redis-benchmark"]
    path = os.path.join(h.work, "redis.sock")
    server = ["redis-server", "--port", "0", "--unixsocket", path, "--save", "",
              "--dir", h.work, "--io-threads", "2", "--daemonize", "no"]
    load = ["redis-benchmark", "-s", path, "-q", "-l", "-c", "10", "-r",
            "20000", "-d", "300", "-t", "set,get,lpush,lpop,sadd,hset,mset"]
    drained = 1 << 19  # bytes; what it holds on to from other times

    def prepare(self):
        pass

    def ask(self, command):
        try:
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(self.path)
                s.sendall(command + b"\r\n")
                return s.recv(1000)
        except OSError:
            return b""

    def answers(self):
        return self.ask(b"PING") == b"+PONG\r\n"

    def fill(self):
        pass

    def empty(self):
        self.ask(b"FLUSHALL SYNC")
        h.check("redis drops its data",
                until(lambda: self.ask(b"DBSIZE") == b":0\r\n"))

    def failed(self, output):
        return "rror" in output


class MariaDB:
    programs = ["mariadbd", "mariadb-install-db", "mariadb", "sysbench"]
    path = os.path.join(h.work, "maria.sock")
    data = os.path.join(h.work, "data")
    server = ["mariadbd", "--no-defaults", "--user=root", "--skip-networking",
              "--innodb-buffer-pool-size=16M", "--innodb-log-file-size=8M",
              "--innodb-flush-log-at-trx-commit=0", "--datadir=" + data,
              "--socket=" + path, "--thread-cache-size=0"]
    sysbench = ["sysbench", "--db-driver=mysql", "--mysql-socket=" + path,
                "--mysql-user=root", "--mysql-db=test", "--tables=2",
                "--table-size=2000", "--threads=4", "oltp_read_write"]
    load = sysbench + ["--time=0", "--report-interval=1", "run"]
    drained = 1 << 20

    def prepare(self):
        made = quiet("mariadb-install-db", "--no-defaults", "--user=root",
                     "--datadir=" + self.data, "--skip-test-db",
                     "--auth-root-authentication-method=normal",
                     "--innodb-log-file-size=8M")
        h.check("a database is made", made.returncode == 0, made)

    def ask(self, statement):
        return quiet("mariadb", "--no-defaults", "--socket=" + self.path,
                     "--user=root", "-N", "-B", "-e", statement).stdout

    def answers(self):
        return self.ask("select 1") == "1\n"

    def fill(self):
        self.ask("create database test")
        made = quiet(*self.sysbench, "prepare")
        h.check("tables are filled", made.returncode == 0, made)

    def empty(self):
        self.ask("drop database test; flush tables; flush status")

    def failed(self, output):
        return "FATAL" in output or "err/s: 0.00" not in output


service = {"redis": Redis, "mariadb": MariaDB}[kind]()
if not all(shutil.which(p, path=os.environ["PATH"] + ":/usr/sbin")
           for p in service.programs):
    print("skipped: no", kind, "here")
    sys.exit(77)

service.prepare()
log = open(os.path.join(h.work, "log"), "w")
server = h.launch(*service.server, preload=jemalloc, stderr=log,
                  ALLOC_CONTROL="1", ALLOC_BACKEND="system")
h.check(f"{kind} starts", until(service.answers))
service.fill()
load = subprocess.Popen(service.load, env=h.env, stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT, text=True)
h.programs.append(load)

for turn in range(ROUNDS):
    for name in backends:
        result = h.run("switch", server.pid, name)
        h.check(f"{turn + 1}: switched to {name}", result.returncode == 0,
                result)
        h.check(f"{turn + 1}: {name} serves the load", until(
            lambda: h.status(server)[name]["mapped_bytes"] >= 65536))
        h.check(f"{turn + 1}: {kind} answers", service.answers())

h.check("the load never stopped", load.poll() is None)
load.terminate()
output = load.communicate()[0]
h.check("the load met no error", not service.failed(output), output[-500:])

result = h.run("switch", server.pid, "system")
h.check("switched to system", result.returncode == 0, result)
service.empty()
h.run("trim", server.pid)
for name in backends:
    if name == "system" or h.status(server)[name]["live_bytes"] is None:
        continue
    h.check(f"{name} has drained", until(
        lambda: h.status(server)[name]["live_bytes"] < service.drained),
        h.status(server)[name])
print(h.run("status", server.pid).stdout)
server.terminate()
h.check(f"{kind} ends well", server.wait() == 0)
with open(log.name) as lines:
    said = lines.read()
h.check("the shim had nothing to complain about", "allocmux:" not in said, said)
h.finish()
