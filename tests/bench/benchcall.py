# SPDX-License-Identifier: MIT
"""What one call costs, and what being there costs.

    pair      instructions and ns of malloc+free, beside the floor
    dispatch  the shim against the same allocator without it
    startup   what `true` pays
    ownership free of anybody's block, and who answers "whose is this?"

Each interleaves its runs. Times are the least of all runs (what disturbs a
short loop only makes it longer), counts and sizes the median, ratios of whole
programs the median of the ratios within a round. Not here: the workloads.
"""
import operator
import os
import shutil
import statistics
import subprocess
import tempfile

import benchrun
import benchwork
from benchrun import Failed, complain
from benchtable import print_table

SIZES = (16, 64, 256, 1024, 4096)
FLOOR = benchrun.Allocator("floor", {})
STARTS = 100


def gather(store, name, result):
    """Append each figure of `result` to store[name]."""
    for key, value in result.items():
        if key != "output":
            store.setdefault(name, {}).setdefault(key, []).append(value)


def middle(store, name, key):
    """The median of counts and sizes, the least of times, or None."""
    values = store.get(name, {}).get(key)
    if not values:
        return None
    timed = key.startswith(("ns_", "free_", "query_", "ms", "cpu_ms"))
    return min(values) if timed else statistics.median(values)


def show(value, form="%.1f"):
    """A cell."""
    return "-" if value is None else form % value


def run_pair(args, found):
    """Time and count pairs; {allocator: {metric: [values]}}."""
    program = os.path.join(args.programs, "pair")
    stepper = os.path.join(args.programs, "bench_stepper")
    store = {}
    for turn in range(args.runs):
        for allocator in [FLOOR] + found:
            prefix = "floor-" if allocator is FLOOR else ""
            gather(store, allocator.name, benchrun.measure(
                args.programs, [program, prefix + "time"], allocator))
            if turn == 0:
                gather(store, allocator.name, benchrun.measure(
                    args.programs, [stepper, program, prefix + "count"],
                    allocator))
    return store


def pair(args, found):
    """The table of pairs."""
    store = run_pair(args, found)
    rows = []
    for allocator in [FLOOR] + found:
        name = allocator.name
        rows.append(
            [name] +
            [show(middle(store, name, "insn_%d" % size), "%d")
             for size in SIZES] +
            [show(middle(store, name, "ns_%d" % size)) for size in SIZES])
    print("### A pair of malloc and free on one thread\n")
    print_table(["allocator"] + ["%d B, insns" % size for size in SIZES] +
                ["%d B, ns" % size for size in SIZES], rows)
    return {"pair": store}


def redis_run(args, allocator, more):
    """CPU time of redis-server under redis-benchmark."""
    with tempfile.TemporaryDirectory() as place:
        socket = os.path.join(place, "redis.sock")
        client = ["redis-benchmark", "-q", "-s", socket, "-n", "200000", "-P",
                  "16", "-r", "10000", "-t", "set,get,lpush,lpop,sadd,hset"]
        script = ("PATH=$PATH; i=0; while [ ! -S %s ] && [ $i -lt 200 ]; do "
                  "sleep 0.05; i=$((i+1)); done; %s >/dev/null && "
                  "redis-cli -s %s shutdown nosave" % (
                      socket, " ".join(client), socket))
        load = subprocess.Popen(["/bin/sh", "-c", script],
                                stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        try:
            return benchrun.measure(
                args.programs,
                ["redis-server", "--port", "0", "--unixsocket", socket,
                 "--save", "", "--dir", place, "--logfile", "/dev/null"],
                allocator, more=more, timeout=60)
        finally:
            load.kill()
            load.wait()


def program_runs(args):
    """{name: function(allocator) -> result} of the programs that are here."""
    libc = benchrun.find_library("libc.so.6")

    def plain(*command):
        return lambda allocator: benchrun.measure(args.programs, command,
                                                  allocator)

    def redis(allocator):
        # Debian's redis-server is linked with jemalloc: put libc first.
        more = {} if allocator.env else {"LD_PRELOAD": libc}
        return redis_run(args, allocator, more)

    runs = {}
    if shutil.which("python3", path="/usr/bin"):
        runs["python3"] = plain("/usr/bin/env", "PYTHONMALLOC=malloc",
                                "/usr/bin/python3", "-c", benchwork.PYTHON)
    if shutil.which("gcc"):
        runs["gcc"] = plain("/bin/sh", "-c", benchwork.GCC, "sh",
                            benchwork.HERE)
    if shutil.which("redis-server") and shutil.which("redis-benchmark"):
        runs["redis-server"] = redis
    for name in ("python3", "gcc", "redis-server"):
        if name not in runs:
            complain("%s is not installed: left out" % name)
    return runs


def dispatch(args, found):
    """The shim over an allocator against that allocator by itself."""
    del found
    couples = []
    for bare, ours in (("none", "ours-system"),
                       ("jemalloc", "ours-jemalloc")):
        try:
            couple = [benchrun.allocator_named(name, args.shim, args.extra)
                      for name in (bare, ours)]
            for allocator in couple:
                benchrun.probe(allocator, args.programs)
            couples.append(couple)
        except Failed as reason:
            complain("%s against %s is left out: %s" % (ours, bare, reason))
    program = os.path.join(args.programs, "pair")
    store = {}
    for _ in range(args.runs):
        for couple in couples:
            for allocator in couple:
                gather(store, allocator.name, benchrun.measure(
                    args.programs, [program, "time"], allocator))
    programs = program_runs(args)
    for turn in range(args.runs):
        for name, run in programs.items():
            for couple in couples:
                for allocator in couple if turn % 2 else couple[::-1]:
                    result = run(allocator)
                    gather(store, allocator.name + " " + name, result)
    rows = []
    for bare, ours in couples:
        cells = ["%s, against %s" % (ours.name, bare.name)]
        for size in (16, 64, 256, 1024):
            with_shim, without = (middle(store, a.name, "ns_%d" % size)
                                  for a in (ours, bare))
            # A pair is two calls.
            cells.append("%+.2f" % ((with_shim - without) / 2))
        for name in programs:
            # Runs of one round are neighbours: compare within the round.
            with_shim, without = (store[a.name + " " + name]["cpu"]
                                  for a in (ours, bare))
            each = sorted(map(operator.truediv, with_shim, without))
            cells.append("%.3f (%.2f to %.2f)" % (
                statistics.median(each), each[0], each[-1]))
        rows.append(cells)
    print("### Price of the shim: ns a call, and CPU of whole programs\n")
    print_table(["pair of runs"] + ["%d B, ns a call" % size
                                    for size in (16, 64, 256, 1024)] +
                ["%s, ratio" % name for name in programs], rows)
    return {"dispatch": store}


def startup(args, found):
    """What /bin/true pays."""
    store = {}
    for _ in range(args.runs):
        for allocator in found:
            result = benchrun.measure(
                args.programs, ["/bin/true"], allocator,
                options=["-n", str(STARTS)])
            result["ms"] = result["wall_ns"] / STARTS / 1e6
            result["cpu_ms"] = result["cpu"] / STARTS * 1e3
            result["faults"] = result["minor_faults"] / STARTS
            del result["exit_kib"]
            gather(store, allocator.name, result)
            exact = benchrun.measure(args.programs, ["/bin/true"], allocator,
                                     options=["-x"])
            gather(store, allocator.name, {"exit_kib": exact["exit_kib"]})
    keys = (("ms", "%.3f"), ("cpu_ms", "%.3f"), ("exit_kib", "%d"),
            ("faults", "%d"))
    rows = [[a.name] + [show(middle(store, a.name, key), form)
                        for key, form in keys] for a in found]
    print("### /bin/true\n")
    print_table(["allocator", "wall, ms", "CPU, ms", "resident at exit, KiB",
                 "minor faults"], rows)
    return {"startup": store}


def ownership(args, found):
    """ns of free by owner, and of the ownership queries."""
    program = os.path.join(args.programs, "ownership")
    boot = os.path.join(args.programs, "libbench_boot.so")
    allocators = list(found)
    if any(a.ours for a in found):
        # Bootstrap blocks need a backend that allocates while it loads.
        allocators.append(benchrun.Allocator(
            "ours, bench_boot.so",
            {"LD_PRELOAD": args.shim, "ALLOC_BACKEND": boot,
             "ALLOC_STRICT": "1"}))
    store = {}
    for _ in range(args.runs):
        for allocator in allocators:
            for mode in ("free", "query"):
                gather(store, allocator.name, benchrun.measure(
                    args.programs, [program, mode], allocator))
    keys = ("free_own", "free_libc", "free_external", "free_bootstrap",
            "query_own")
    rows = [[a.name] + [show(middle(store, a.name, key)) for key in keys]
            for a in allocators]
    print("### Ownership, ns a block\n")
    print_table(["allocator", "free, own", "free, libc's", "free, mimalloc's",
                 "free, bootstrap", "query"], rows)
    return {"ownership": store}


COMMANDS = {"ownership": ownership, "pair": pair, "dispatch": dispatch, "startup": startup}
