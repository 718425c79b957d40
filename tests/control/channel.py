# SPDX-License-Identifier: MIT
"""The control channel of a python3 under the shim: who, what, and when off.

channel.py TOOL SHIM
"""
import os
import signal
import sys

from harness import PYTHON, Harness, ask, is_listening, until

h = Harness(*sys.argv[1:3])

BUSY = """
import sys, threading
def work():
    while not done.is_set():
        kept = [str(i) * 10 for i in range(20000)]
done = threading.Event()
threads = [threading.Thread(target=work) for _ in range(2)]
[t.start() for t in threads]
print("ready", flush=True)
sys.stdin.read()
done.set()
[t.join() for t in threads]
print("done")
"""


def python(code, **env):
    return h.launch(PYTHON, "-c", code, PYTHONMALLOC="malloc",
                    ALLOC_BACKEND="system", **env)


def descriptors(pid):
    return sorted(os.readlink(f"/proc/{pid}/fd/{fd}")[:6]
                  for fd in os.listdir(f"/proc/{pid}/fd"))


def threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


# Off: nothing of it exists.
WAIT = "print('ready', flush=True); input()"
off = python(WAIT)
bare = h.launch(PYTHON, "-c", WAIT, preload=False)
off.stdout.readline(), bare.stdout.readline()
h.check("off: no thread", threads(off.pid) == 1)
h.check("off: no descriptor", descriptors(off.pid) == descriptors(bare.pid),
        descriptors(off.pid))
h.refused("off: status 7 and a line", h.run("status", off.pid), 7,
          "ALLOC_CONTROL=1")
h.refused("without the shim: status 6 and a line", h.run("status", bare.pid),
          6, "does not run under the shim")
h.refused("switch says the same", h.run("switch", bare.pid, "dl"), 6, "shim")
with open("/proc/%d/status" % off.pid) as status:
    h.check("off: no signal handler of ours", "SigCgt:\t0000000000000002\n"
            in status.read())  # Python's own SIGINT

on = python(BUSY, ALLOC_CONTROL="1")
on.stdout.readline()
h.check("on: one thread more", threads(on.pid) == 4)
with open(f"/proc/{on.pid}/task/" + next(
        t for t in os.listdir(f"/proc/{on.pid}/task")
        if open(f"/proc/{on.pid}/task/{t}/comm").read() == "allocmux\n")
        + "/status") as status:
    blocked = next(line for line in status if line.startswith("SigBlk"))
h.check("on: it takes no signals", int(blocked.split()[1], 16)
        & (1 << signal.SIGTERM - 1 | 1 << signal.SIGUSR1 - 1
           | 1 << signal.SIGCHLD - 1) != 0, blocked)
h.check("on: it leaves the C library's own signals alone",
        int(blocked.split()[1], 16) & 3 << 31 == 0, blocked)

h.check("system serves at first", h.status(on)["system"]["active"])
for name in ("dl", "percpu", "system"):
    result = h.run("switch", on.pid, name)
    h.check(f"switch to {name}", result.returncode == 0, result)
    h.check(f"{name} serves", h.status(on)[name]["active"])
    h.check(f"{name} fills", until(
        lambda: (h.status(on)[name]["live_bytes"] or 0) > 100000))
for name in ("dl", "percpu"):
    h.check(f"{name} drains", until(
        lambda: (h.status(on)[name]["live_bytes"] or 0) < 100000),
        h.status(on))
result = h.run("switch", on.pid, "nosuch")
h.refused("an unknown backend is refused", result, 1, '"nosuch"')
h.check("and nothing has changed", h.status(on)["system"]["active"])
result = h.run("trim", on.pid)
h.check("trim", result.returncode == 0 and "system" in result.stdout, result)

# The protocol, byte by byte.
h.check("a command cut in two is one command",
        ask(on.pid, b"pi", b"ng\n").endswith("ok\n"))
h.check("an unknown command is an error",
        ask(on.pid, b"frobnicate\n").startswith("error "))
ask(on.pid, b"x" * 5000)
h.check("a line without end does no harm",
        ask(on.pid, b"ping\n").endswith("ok\n"))
h.check("zero bytes are an error", ask(on.pid, b"\0\0\0\n").startswith("error"))
h.check("the channel serves on", h.run("status", on.pid).returncode == 0)

# A trace, from outside.
trace = os.path.join(h.work, "trace")
h.check("no trace, nothing to stop",
        ask(on.pid, b"trace-stop\n").startswith("error "))
answer = ask(on.pid, f"trace-start record {trace}\n".encode())
h.check("a trace starts", answer == f"trace file={trace}\nok\n", answer)
h.check("a second one does not",
        ask(on.pid, b"trace-start\n").startswith("error "))
h.check("a snapshot is taken",
        ask(on.pid, b"trace-snapshot\n").endswith("ok\n"))
h.check("the trace stops", ask(on.pid, b"trace-stop\n").endswith("ok\n"))
h.check("its file is there", os.path.getsize(trace) > 0)

# Who may speak.
if os.geteuid() == 0:
    h.refused("another user's process: status 5 and a line",
              h.run("status", on.pid, user=65534), 5, "another user")
    nobody = h.launch("setpriv", "--reuid=65534", "--clear-groups", PYTHON,
                      "-c", "import sys, socket\n"
                      "s = socket.socket(socket.AF_UNIX)\n"
                      f"s.connect('\\0allocmux/{on.pid}')\n"
                      "try: s.sendall(b'switch dl\\n')\n"
                      "except BrokenPipeError: pass  # refused unheard\n"
                      "print(s.recv(1000).decode())", preload=False)
    answer, _ = nobody.communicate()
    h.check("another user is refused by the program itself",
            answer.startswith("error 1 "), answer)
    h.check("and has changed nothing", h.status(on)["system"]["active"])

on.stdin.close()
h.check("the program ends well after it all", on.wait() == 0)
h.check("and says what it would", on.stdout.read() == "done\n")
h.check("and nothing else", on.stderr.read() == "")
h.refused("ended: status 4 and a line", h.run("status", on.pid), 4, "no process")

# A program that closes what it does not know gets its channel back.
closer = python("import os; os.closerange(3, 1000); "
                "fds = [os.open('/dev/null', os.O_RDWR) for _ in range(300)]; "
                + WAIT, ALLOC_CONTROL="1")
closer.stdout.readline()
h.run("status", closer.pid)
h.check("a closed channel opens again", until(
    lambda: h.run("status", closer.pid).returncode == 0))
h.check("it serves on", h.run("status", closer.pid).returncode == 0)

# Children.
FORKS = """
import os, sys
pid = os.fork()
if pid == 0:
    print(os.getpid(), flush=True)
    sys.stdin.read()
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
for value, status in (("1", 7), ("fork", 0)):
    parent = python(FORKS, ALLOC_CONTROL=value)
    child = int(parent.stdout.readline())
    h.check(f"ALLOC_CONTROL={value}: a forked child gives status {status}",
            until(lambda: h.run("status", child).returncode == status))
    h.check(f"ALLOC_CONTROL={value}: the parent answers still",
            h.run("status", parent.pid).returncode == 0)
    parent.stdin.close()
    h.check(f"ALLOC_CONTROL={value}: both end well", parent.wait() == 0)

# setuid(2) in a program with threads signals every one of them.
if os.geteuid() == 0:
    dropper = python("import os; os.setuid(65534); " + WAIT, ALLOC_CONTROL="1")
    h.check("a program may drop its rights", dropper.stdout.readline() ==
            "ready\n")
    h.check("root is still heard", h.run("status", dropper.pid).returncode == 0)
    h.refused("one that was root is not its new user's",
              h.run("status", dropper.pid, user=65534), 5, "not")

# A socket held by somebody else is not believed.
squatter = h.launch(PYTHON, "-c", f"""
import socket
s = socket.socket(socket.AF_UNIX)
s.bind('\\0allocmux/{bare.pid}')
s.listen()
print("ready", flush=True)
s.accept()
input()
""", preload=False)
squatter.stdout.readline()
h.refused("an impostor is not believed", h.run("status", bare.pid), 3,
          f"held by process {squatter.pid}")

for wrong in (["status"], ["status", "x"], ["status", "0"], ["switch", "1"],
              ["switch", "1", "a", "b"], ["status", "--nosuch", "1"]):
    h.check(f"wrong usage: {wrong}", h.run(*wrong).returncode == 2)

h.check("no socket is left", not is_listening(on.pid))
h.finish()
