# SPDX-License-Identifier: MIT
"""attach and detach: what must work, and what must be refused unharmed.

attach.py TOOL SHIM BUSY STATIC_BUSY LIBRARY JEMALLOC
"""
import os
import shutil
import signal
import subprocess
import sys

from harness import PYTHON, Harness, until

h = Harness(*sys.argv[1:3])
busy, static_busy, library, jemalloc = sys.argv[3:7]


def start(*command, **env):
    program = h.launch(*command, preload=False, **env)
    first = program.stdout.readline()
    if first != "ready\n":
        print("FAILED: start of", command, first, program.stderr.read())
        h.failures += 1
    return program


def ends_well(claim, program, words="ok\n"):
    program.stdin.close()
    code = program.wait()
    out, err = program.stdout.read(), program.stderr.read()
    h.check(claim, code == 0 and out == words and err == "", (code, out, err))


def attach(claim, program, *options):
    result = h.run("attach", program.pid, *options)
    h.check(claim, result.returncode == 0 and result.stderr == "", result)
    return result.returncode == 0


def unharmed(claim, program, result, status, words):
    h.refused(claim, result, status, words)
    ends_well(claim + ": the program is unharmed", program)


# Heavy allocation on all threads, again and again.
for turn in range(20):
    program = start(busy, "alloc")
    if attach(f"threads that allocate, {turn + 1}", program, "-b", "percpu"):
        h.check("new blocks are percpu's", until(
            lambda: h.status(program)["percpu"]["live_bytes"]))
    ends_well("its blocks are whole", program)

# What else threads may be at.
for mode in ("load", "compute", "wait", "small", "signals", "fork"):
    for turn in range(3):
        program = start(busy, mode, library)
        attach(f"{mode}: attached", program, "-b", "dl")
        ends_well(f"{mode}: nobody noticed", program)

# Round trips.
program = start(busy, "alloc")
for turn in range(5):
    attach(f"attached, {turn + 1}", program, "-b", "percpu")
    result = h.run("detach", program.pid)
    h.check(f"detached, {turn + 1}", result.returncode == 0, result)
h.refused("detached: no channel is left", h.run("status", program.pid), 7,
          "channel")
ends_well("the program is whole after it all", program)

program = start(busy, "alloc", ALLOC_BACKEND="dl")
attach("without a backend the environment decides", program)
h.check("dl serves", h.status(program)["dl"]["active"])
result = h.run("attach", program.pid, "-b", "nosuch")
h.refused("an unknown backend is refused", result, 1, '"nosuch"')
ends_well("and nothing has happened", program)

# Real programs.
PYTHON_WORK = """
import json, sys
print("ready", flush=True)
sys.stdin.readline()
import sqlite3, decimal, xml.dom.minidom   # loaded after the attach
kept = [json.loads(json.dumps({str(i): [i] * 50})) for i in range(5000)]
db = sqlite3.connect(":memory:")
db.execute("create table t(a)")
db.executemany("insert into t values(?)", [(str(i) * 20,) for i in range(5000)])
print(db.execute("select count(*) from t").fetchone()[0], len(kept))
sys.stdin.read()
"""
program = start(PYTHON, "-c", PYTHON_WORK, PYTHONMALLOC="malloc")
attach("python3", program, "--backend", "percpu")
program.stdin.write("go\n")
program.stdin.flush()
h.check("python3 works on", program.stdout.readline() == "5000 5000\n")
status = h.status(program)
h.check("python3's new blocks are percpu's",
        (status["percpu"]["live_bytes"] or 0) > 1000000, status)
ends_well("python3 exits with 0", program, "")

NODE_WORK = """
const zlib = require("zlib");
console.log("ready");
process.stdin.once("data", () => {
  const kept = globalThis.kept = [];
  for (let i = 0; i < 2000; i++) kept.push(Buffer.alloc(5000, i));
  const packed = zlib.gzipSync(Buffer.concat(kept));
  require("crypto").pbkdf2("a", "b", 1000, 64, "sha512", () =>
    console.log(zlib.gunzipSync(packed).length));
  process.stdin.on("end", () => process.exit(0)).resume();
});
"""
if shutil.which("node"):
    program = start("node", "-e", NODE_WORK)
    attach("node", program, "--backend", "percpu")
    program.stdin.write("go\n")
    program.stdin.flush()
    h.check("node works on", program.stdout.readline() == "10000000\n")
    status = h.status(program)
    h.check("node's new blocks are percpu's",
            (status["percpu"]["live_bytes"] or 0) > 1000000, status)
    ends_well("node exits with 0", program, "")

# A stripped program.
stripped = os.path.join(h.work, "stripped")
if shutil.which("strip"):
    subprocess.run(["strip", "-o", stripped, busy], check=True)
    program = start(stripped, "alloc")
    attach("stripped", program, "-b", "percpu")
    ends_well("stripped: whole", program)

# Programs that it is not for.
program = start(static_busy, "wait")
unharmed("static", program, h.run("attach", program.pid), 8,
         "statically linked")
program = start(busy, "filtered")
h.refused("seccomp filter", h.run("attach", program.pid), 8, "--filtered")
attach("seccomp filter that allows, --filtered", program, "--filtered")
ends_well("seccomp filter: nobody noticed", program)
program = start(busy, "wait")
program.send_signal(signal.SIGSTOP)
until(lambda: open(f"/proc/{program.pid}/stat").read().split()[2] == "T")
h.refused("stopped", h.run("attach", program.pid), 8, "is stopped")
program.send_signal(signal.SIGCONT)
ends_well("stopped: the program is unharmed", program)
if os.path.exists(jemalloc):
    program = start(busy, "alloc", LD_PRELOAD=jemalloc)
    unharmed("a malloc of its own", program, h.run("attach", program.pid), 8,
             "libjemalloc")
program = h.launch(busy, "traced", preload=False)
traced = int(program.stdout.readline())
h.refused("traced", h.run("attach", traced), 8, "is being traced")
program.stdin.close()
program.wait()
h.refused("ended", h.run("attach", program.pid), 4, "no process")
if os.geteuid() == 0:
    program = start(busy, "wait")
    unharmed("another user's", program,
             h.run("attach", program.pid, user=65534), 5, "another user")

# A process that does not see the shim's file.
hide = os.path.join(h.work, "hide")
os.mkdir(hide)
hidden = shutil.copy(h.shim, hide)
program = h.launch("unshare", "-m", "sh", "-c",
                   f"mount -t tmpfs none {hide} && exec {busy} wait",
                   preload=False)
if program.stdout.readline() == "ready\n":
    h.env["ALLOCMUX_SHIM"] = hidden
    unharmed("another mount name space", program,
             h.run("attach", program.pid), 8, "does not see")
    h.env["ALLOCMUX_SHIM"] = h.shim
else:
    print("skipped: another mount name space (unshare may not)")

program = start(busy, "wait")
h.env["ALLOCMUX_SHIM"] = library
h.refused("a library that is not the shim", h.run("attach", program.pid), 1,
          "amux_control_start")
h.env["ALLOCMUX_SHIM"] = h.shim
attach("and then the shim", program, "-b", "percpu")
ends_well("a library that is not the shim: unharmed", program)

under = h.launch(busy, "wait")
under.stdout.readline()
attach("under the shim without a channel: it gets one", under)
h.check("and answers", h.run("status", under.pid).returncode == 0)
h.refused("what was not attached to is not detached",
          h.run("detach", under.pid), 1, "not attached")
ends_well("under the shim: unharmed", under)
for wrong in (["attach"], ["attach", "x"], ["detach"], ["attach", "1", "2"]):
    h.check(f"wrong usage: {wrong}", h.run(*wrong).returncode == 2)
h.finish()
