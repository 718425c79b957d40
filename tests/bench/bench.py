#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Benchmarks of Allocmux and its peers.

    bench.py [workloads]   every workload under every allocator
    bench.py pair          instructions and ns of one malloc and free
    bench.py dispatch      the shim against the same allocator without it
    bench.py startup       what /bin/true pays
    bench.py ownership     free of anybody's block; "whose is this?"
    bench.py show FILE...  the tables of earlier --json files, merged
    bench.py smoke         every workload once, tiny: do the checks hold?

Allocators: none (libc's malloc, nothing preloaded), Debian's jemalloc,
tcmalloc, mimalloc and tbb preloaded by themselves, and ours-BACKEND: the shim
with that backend. Runs are interleaved: each round measures every allocator
once, starting with another one each time. Exit status: 0; 1 if a workload
failed; 2 for a wrong command line.
"""
import argparse
import json
import os
import platform
import re
import shutil
import sys
import time

import benchcall
import benchrun
import benchtable
import benchwork
from benchrun import Failed, complain

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT = (["none", *benchrun.PEERS] +
           ["ours-" + name for name in benchrun.OURS])


def parse(argv):
    """The command line."""
    build = os.path.join(HERE, "..", "..", "build", "release")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", nargs="?", default="workloads",
                        choices=["workloads", "show", "smoke",
                                 *benchcall.COMMANDS])
    parser.add_argument("files", nargs="*", help="for show")
    parser.add_argument("--build", default=build, metavar="DIR",
                        help="build tree with shim and programs")
    parser.add_argument("--shim", metavar="FILE",
                        help="default: the one in the build tree")
    parser.add_argument("--allocators", metavar="LIST",
                        help="comma-separated; default: all")
    parser.add_argument("--lib", action="append", default=[],
                        metavar="NAME=PATH",
                        help="one more library to preload; repeatable")
    parser.add_argument("--only", default="", metavar="REGEX",
                        help="workloads whose name matches")
    parser.add_argument("--runs", type=int, default=5, metavar="N",
                        help="of which the median is taken; default 5")
    parser.add_argument("--timeout", type=int, default=60, metavar="S",
                        help="a run that takes longer has failed")
    parser.add_argument("--quick", action="store_true",
                        help="a fifth of the work, three runs")
    parser.add_argument("--least", action="store_true",
                        help="time: the least of the runs, not the median;\n"
                        "for machines that others use at the same time")
    parser.add_argument("--summary", action="store_true",
                        help="show the geometric means only")
    parser.add_argument("--json", metavar="FILE", help="write the results")
    parser.add_argument("--plot", metavar="FILE.svg",
                        help="draw time against size (needs gnuplot)")
    args = parser.parse_intermixed_args(argv)
    args.extra = {}
    args.outputs = {}
    for item in args.lib:
        name, equals, path = item.partition("=")
        if not name or not equals or not os.path.exists(path):
            parser.error("--lib %s: need NAME=PATH of an existing library"
                         % item)
        args.extra[name] = os.path.abspath(path)
    if args.runs < 1:
        parser.error("--runs must be 1 or more")
    try:
        args.pattern = re.compile(args.only)
    except re.error as error:
        parser.error("--only %s: %s" % (args.only, error))
    return args


def find_shim(build):
    """The shim in the build tree, or where it ought to be."""
    name = "liballocmux_shim.so"
    for place, _, files in os.walk(build):
        if name in files:
            return os.path.join(os.path.abspath(place), name)
    return os.path.join(build, name)


def allocators(args):
    """Those asked for that are there; the rest is reported."""
    names = (args.allocators.split(",") if args.allocators
             else DEFAULT + list(args.extra))
    found = []
    for name in names:
        try:
            allocator = benchrun.allocator_named(name, args.shim, args.extra)
            benchrun.probe(allocator, args.programs)
            found.append(allocator)
        except Failed as reason:
            complain("%s is left out: %s" % (name, reason))
    if not found:
        complain("no allocator to measure")
        sys.exit(2)
    return found


def run_program(args, work, allocator):
    """One run of a program: all runs must print the same."""
    if not shutil.which(work.command[0]):
        raise Failed("%s is not installed" % work.command[0])
    result = benchrun.measure(args.programs, work.command, allocator,
                              more=work.env, timeout=args.timeout)
    if args.outputs.setdefault(work.name, result["output"]) != \
            result["output"]:
        raise Failed("other output than that of the first run")
    return result


def run_one(args, work, allocator, scale):
    """One run of one workload, with derived figures."""
    if work.kind == "program":
        return run_program(args, work, allocator)
    command = [os.path.join(args.programs, work.command[0]), "-s", str(scale),
               *work.command[1:]]
    result = benchrun.measure(args.programs, command, allocator,
                              timeout=args.timeout)
    if result.get("checked") != 1:
        raise Failed("the workload did not report its check")
    # Wall time is the work's own: start-up is not part of it.
    if work.threads:
        result["wall_work"] = result["seconds"]
    if work.name == "threads-2000":
        bare = benchrun.measure(
            args.programs, command[:-1] + ["none"],
            benchrun.Allocator("none", {}))
        result["kib_thread"] = ((result["rss_threads_live"] -
                                 bare["rss_threads_live"]) /
                                result["threads"])
    return result


def run_all(args, works, found, runs, scale):
    """Interleaved rounds; results and the number of failures."""
    results = {work.name: {a.name: {} for a in found} for work in works}
    failed = set()
    for turn in range(runs):
        for work in works:
            order = found[turn % len(found):] + found[:turn % len(found)]
            for allocator in order:
                if (work.name, allocator.name) in failed:
                    continue
                try:
                    one = run_one(args, work, allocator, scale)
                except Failed as reason:
                    complain("%s under %s: %s" % (work.name, allocator.name,
                                                  reason))
                    failed.add((work.name, allocator.name))
                    results[work.name][allocator.name] = {}
                    continue
                del one["output"]
                store = results[work.name][allocator.name]
                for key, value in one.items():
                    store.setdefault(key, []).append(value)
        # A run that is cut short keeps its whole rounds.
        if args.json:
            save(args, results)
    return results, len(failed)


def machine():
    """Where the figures come from."""
    with open("/proc/meminfo", encoding="ascii") as meminfo:
        memory = int(meminfo.readline().split()[1]) // 1024
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        model = re.search(r"model name\s*: (.*)", cpuinfo.read())
    return "%s, %d CPUs, %d MiB, Linux %s, libc %s" % (
        model.group(1) if model else platform.machine(), os.cpu_count(),
        memory, platform.release(), "-".join(platform.libc_ver()))


def save(args, results):
    """Write --json."""
    with open(args.json + ".new", "w", encoding="utf-8") as out:
        json.dump({"machine": machine(), "results": results}, out, indent=1)
        out.write("\n")
    os.replace(args.json + ".new", args.json)


def names_in(results, wanted):
    """Allocators that occur in `results`, peers first."""
    names = []
    for row in results.values():
        names += [name for name in row if name not in names]
    if wanted:
        names = [name for name in wanted.split(",") if name in names]
    return sorted(names, key=lambda name: not benchtable.is_peer(name))


def show(args, results, about):
    """Tables and plot."""
    names = names_in(results, args.allocators)
    print("%s\n" % about)
    # The best peer is the best of those shown.
    results = {work: {name: row[name] for name in names if name in row}
               for work, row in results.items()}
    if args.least:
        benchtable.time_figure = min
    benchtable.print_summary(results, names)
    if not args.summary:
        benchtable.print_ratios(results, names)
        benchtable.print_extra(results, names)
    if args.plot:
        benchtable.plot(results, names, args.plot)


def command_show(args):
    """Merge earlier results and print them."""
    results, about = {}, ""
    if not args.files:
        complain("show: which files?")
        return 2
    for path in args.files:
        try:
            with open(path, encoding="utf-8") as source:
                data = json.load(source)
            about = data["machine"]
            for work, row in data["results"].items():
                for name, figures in row.items():
                    store = results.setdefault(work, {}).setdefault(name, {})
                    for key, values in figures.items():
                        store.setdefault(key, []).extend(values)
        except (OSError, ValueError, KeyError) as error:
            complain("%s: %s" % (path, error))
            return 2
    show(args, results, about)
    return 0


def command_workloads(args):
    """Measure and print."""
    works = [work for work in benchwork.WORKLOADS + benchwork.PROGRAMS
             if args.pattern.search(work.name)]
    if args.only:
        works += [work for work in benchwork.LONG
                  if args.pattern.fullmatch(work.name)]
    if not works:
        complain("--only %s matches no workload" % args.only)
        return 2
    found = allocators(args)
    began = time.monotonic()
    results, failed = run_all(args, works, found, 3 if args.quick else
                              args.runs, 20 if args.quick else 100)
    show(args, results, machine())
    complain("%d s" % (time.monotonic() - began))
    return 1 if failed else 0


def command_smoke(args):
    """Each workload once with next to no work."""
    works = [work for work in benchwork.WORKLOADS + benchwork.LONG
             if args.pattern.search(work.name)]
    found = allocators(args)
    _, failed = run_all(args, works, found, 1, 1)
    return 1 if failed else 0


def command_call(args):
    """A command of benchcall."""
    results = benchcall.COMMANDS[args.what](args, allocators(args))
    if args.json:
        save(args, results)
    return 0


def main(argv):
    """Dispatch."""
    args = parse(argv)
    args.programs = os.path.join(os.path.abspath(args.build), "tests",
                                 "bench")
    if not os.path.exists(os.path.join(args.programs, "bench_runner")):
        complain("%s: no programs; build the target bench_programs" %
                 args.programs)
        return 2
    args.shim = os.path.abspath(args.shim or find_shim(args.build))
    commands = {"workloads": command_workloads, "show": command_show,
                "smoke": command_smoke}
    try:
        return commands.get(args.what, command_call)(args)
    except Failed as reason:
        complain("%s: %s" % (args.what, reason))
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
