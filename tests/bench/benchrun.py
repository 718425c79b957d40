# SPDX-License-Identifier: MIT
"""Running one program under one allocator, and measuring it.

An allocator is a name and the environment that selects it. Before anything
is measured, each one is asked by the `bench_probe` program whose malloc is in
use; one that is not there is reported and left out.

Costs come from bench_runner (wait4's rusage); what the program itself prints
("key value" lines) is added. Not here: what to run (benchwork.py), what to
print (benchtable.py).
"""
import os
import re
import signal
import subprocess
import sys

PEERS = {
    "jemalloc": "libjemalloc.so.2",
    "tcmalloc": "libtcmalloc_minimal.so.4",
    "mimalloc": "libmimalloc.so.2",
    "tbb": "libtbbmalloc_proxy.so.2",
}
OURS = ("system", "percpu", "dl")
COSTS = ("wall_ns", "user_us", "system_us", "peak_kib", "minor_faults",
         "major_faults", "switches", "exit_kib", "status")


class Failed(Exception):
    """A program did not do its work."""


class Allocator:
    """A malloc to measure: `env` selects it; `ours` if through the shim."""

    def __init__(self, name, env, library=None, ours=False):
        self.name = name
        self.env = env
        self.library = library
        self.ours = ours


def find_library(soname):
    """The path the loader would take for `soname`, or None."""
    loader = subprocess.run(["/sbin/ldconfig", "-p"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    match = re.search(r"^\s*%s \(.*=> (\S+)$" % re.escape(soname), loader,
                      re.MULTILINE)
    return match.group(1) if match else None


def allocator_named(name, shim, extra):
    """The allocator called `name`, or raise Failed with the reason."""
    if name == "none":
        return Allocator(name, {})
    if name in extra:
        return Allocator(name, {"LD_PRELOAD": extra[name]}, extra[name])
    if name in PEERS:
        path = find_library(PEERS[name])
        if not path:
            raise Failed("%s is not installed" % PEERS[name])
        return Allocator(name, {"LD_PRELOAD": path}, path)
    if name.startswith("ours-"):
        if not os.path.exists(shim):
            raise Failed("%s is not built" % shim)
        backend = name[len("ours-"):]
        preload = shim
        if backend in extra:
            backend = extra[backend]
            preload += ":" + backend
        elif backend in PEERS:
            # As `allocmux run` does for a library that cannot come late.
            preload += ":" + (find_library(PEERS[backend]) or "")
        env = {"LD_PRELOAD": preload, "ALLOC_BACKEND": backend,
               "ALLOC_STRICT": "1"}
        return Allocator(name, env, shim, ours=True)
    raise Failed("no such allocator; known: none %s %s %s" % (
        " ".join(PEERS), " ".join("ours-" + o for o in OURS),
        " ".join(extra)))


def environment(allocator, more=None):
    """A small fixed environment, so that its size plays no part."""
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
           "HOME": "/nonexistent", "LC_ALL": "C"}
    env.update(allocator.env)
    env.update(more or {})
    return env


def probe(allocator, directory):
    """Raise Failed unless `allocator`'s malloc is the one in use."""
    done = subprocess.run([os.path.join(directory, "bench_probe")],
                          env=environment(allocator), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    if done.returncode:
        raise Failed("status %d: %s" % (
            done.returncode, done.stderr.strip().split("\n")[-1]))
    # An allocator may export malloc from a library it depends on.
    found = os.path.realpath(done.stdout.strip())
    if allocator.library and found != os.path.realpath(allocator.library):
        raise Failed("malloc comes from %s" % found)


def measure(directory, command, allocator, options=(), more=None,
            timeout=240):
    """Run `command` once; return its costs and reports as one dict."""
    reader, writer = os.pipe()
    runner = [os.path.join(directory, "bench_runner"), "-o", str(writer),
              *options, *command]
    process = subprocess.Popen(
        runner, env=environment(allocator, more), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        pass_fds=(writer,), start_new_session=True)
    os.close(writer)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failed("no end after %d s" % timeout) from None
    with os.fdopen(reader) as pipe:
        fields = pipe.read().split()
    if len(fields) != len(COSTS):
        raise Failed("bench_runner: %s" % err.strip())
    result = dict(zip(COSTS, map(int, fields)))
    if result["status"]:
        raise Failed("status %d: %s" % (result["status"],
                                        err.strip().split("\n")[-1]))
    result["wall"] = result["wall_ns"] / 1e9
    result["cpu"] = (result["user_us"] + result["system_us"]) / 1e6
    result["output"] = hash(out)
    for line in out.splitlines():
        key, _, value = line.partition(" ")
        try:
            result[key] = float(value)
        except ValueError:
            pass
    return result


def complain(text):
    """A line on stderr."""
    print("bench: " + text, file=sys.stderr, flush=True)
