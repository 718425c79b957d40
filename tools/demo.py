#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""demo.py - run one real program under every backend of this machine.

Usage: demo.py ALLOCMUX

The program is python3 turning a million numbers into JSON and back. Prints a
line per backend: whether its output is right, wall time, peak RSS. Exit status
1 if a backend failed. For measurements that mean something there is
`allocmux compare`.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

PROGRAM = [
    "python3", "-c",
    "import json; n = list(range(10**6)); s = json.dumps(n);"
    "assert json.loads(s) == n; print(len(s))",
]
EXPECTED = b"7888890\n"


def run(command, env):
    """Exit status, output, error text, seconds and peak RSS in MiB."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        child = subprocess.Popen(command, stdout=out, stderr=err, env=env)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return (child.returncode, out.read(), err.read().decode(),
                seconds, usage.ru_maxrss / 1024)


def main():
    tool = sys.argv[1]
    listed = json.loads(subprocess.check_output([tool, "list", "--json"]))
    names = [backend["name"] for backend in listed]
    env = dict(os.environ, ALLOC_STRICT="1")
    failed = False
    print(f"{'backend':<14}{'result':<10}{'wall, s':>8}{'peak RSS, MiB':>15}")
    for name in ["none"] + names:
        command = PROGRAM
        if name != "none":
            command = [tool, "run", "--backend", name, "--"] + PROGRAM
        status, out, err, seconds, rss = run(command, env)
        right = status == 0 and out == EXPECTED
        failed = failed or not right
        result = "right" if right else f"exit {status}"
        print(f"{name:<14}{result:<10}{seconds:>8.2f}{rss:>15.1f}")
        if not right:
            print(err, end="")
    return failed


if __name__ == "__main__":
    sys.exit(main())
