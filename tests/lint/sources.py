#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sources.py - what the tree promises about its source files.

Usage: sources.py CHECK, in the root of a clone. Checks:

  floors  includes point down: tools and tests to <allocmux/*.h> and their own
          files, shim to base, backends to base and their own folder, base and
          include to nothing of the others; no .c includes a .c; no circles
  names   file names of the library are unique
  spdx    every source file opens with its licence
  format  clang-format has nothing to say

Prints a line per fault; exit status 1 if there is one.
"""
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)
LIBRARY = ("shim/", "backends/", "include/")
IMPLEMENTATION = ("shim/", "backends/")
# Constraints and operands of the restartable sequences read better by hand.
UNFORMATTED = {"backends/percpu/rseq_x86_64.c", "backends/percpu/rseq_aarch64.c"}
NO_LICENCE_LINE = (".md", ".txt", ".png", ".json", ".map", ".css", ".html", ".csv",
                   "LICENSE", ".gitignore", ".clang-format", ".clang-tidy")


def tracked(*endings):
    out = subprocess.check_output(["git", "ls-files"], text=True).split("\n")
    return [f for f in out if f and f.endswith(endings or ("",)) and
            os.path.isfile(f)]


def includes(path):
    with open(path, encoding="utf-8") as f:
        return INCLUDE.findall(f.read())


def resolve(path, name):
    """The file of the tree that PATH includes as "NAME", or None."""
    folder = os.path.dirname(path)
    places = [folder, "shim", "shim/base", "backends", "include", "tools",
              os.path.dirname(folder)]
    if path.startswith("backends/"):
        places = [folder, "shim/base", "shim", "backends", "include"]
    for place in places:
        candidate = os.path.normpath(os.path.join(place, name))
        if os.path.isfile(candidate):
            return candidate
    return None


def floor(path):
    if path.startswith("include/"):
        return "include"
    if path.startswith("shim/base/"):
        return "base"
    if path.startswith("shim/"):
        return "shim"
    if path.startswith("backends/") and path.count("/") > 1:
        return "/".join(path.split("/")[:2])
    return path.split("/")[0]


def may(path, target):
    here, there = floor(path), floor(target)
    if here == there or there == "include":
        return True
    if here == "include":
        return False
    if here == "base":
        return False
    if here == "shim":
        return there in ("base", "backends", "backends/system")
    if here == "backends":  # the list of the built-in ones
        return there == "base" or there.startswith("backends/")
    if here.startswith("backends/"):
        return there == "base"
    if here == "tools":
        return False
    return True  # tests see everything


def check_floors():
    graph = {}
    for path in tracked(".c", ".h", ".S", ".cc"):
        for quote, name in includes(path):
            if name.endswith(".c"):
                yield f"{path}: includes {name}"
            target = (resolve(path, name) if quote == '"'
                      else f"include/{name}" if name.startswith("allocmux/")
                      else None)
            if not target or not os.path.isfile(target):
                continue
            if path.startswith(LIBRARY) or path.startswith("tools/"):
                if not may(path, target):
                    yield f"{path}: {floor(path)} must not include {target}"
            graph.setdefault(path, set()).add(target)
    state = {}

    def circle(path):
        state[path] = 1
        for target in graph.get(path, ()):
            if state.get(target) == 1 or target not in state and circle(target):
                return True
        state[path] = 2
        return False

    for path in list(graph):
        if path not in state and circle(path):
            yield f"{path}: its includes form a circle"


def check_names():
    seen = {}
    for path in tracked(".c", ".h", ".S"):
        if path.startswith(IMPLEMENTATION):
            name = os.path.basename(path)
            if name in seen:
                yield f"{path}: there is {seen[name]} already"
            seen[name] = path


def check_spdx():
    for path in tracked():
        if path.endswith(NO_LICENCE_LINE):
            continue
        with open(path, encoding="utf-8", errors="replace") as f:
            head = "".join(f.readline() for _ in range(3))
        if "SPDX-License-Identifier: MIT" not in head:
            yield f"{path}: no SPDX line at its beginning"


def check_format():
    for path in tracked(".c", ".h", ".cc"):
        if path in UNFORMATTED:
            continue
        done = subprocess.run(["clang-format", "--dry-run", "-Werror", path],
                              stderr=subprocess.DEVNULL, check=False)
        if done.returncode:
            yield f"{path}: run `make format`"


def main():
    checks = {"floors": check_floors, "names": check_names,
              "spdx": check_spdx, "format": check_format}
    if len(sys.argv) != 2 or sys.argv[1] not in checks:
        sys.exit(__doc__)
    faults = list(checks[sys.argv[1]]())
    for fault in faults:
        print(fault)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
