# SPDX-License-Identifier: MIT
"""What the tests of run-time control share: programs, the tool, checks.

A test file calls start(argv), then check() for each claim and finish().
Nothing here waits for a time to pass: until() polls for a state, with a bound
that only a hanging program reaches.
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

PYTHON = "/usr/bin/python3"
BOUND = 120  # seconds until a program counts as hanging


class Harness:
    def __init__(self, tool, shim):
        self.tool, self.shim = tool, shim
        self.failures = 0
        self.programs = []
        self.work = tempfile.mkdtemp(prefix="allocmux-control.")
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith("ALLOC_") and k != "LD_PRELOAD"}
        self.env["ALLOCMUX_SHIM"] = shim
        self.env["LC_ALL"] = "C"

    def check(self, claim, holds, detail=""):
        print(("ok: " if holds else "FAILED: ") + claim, flush=True)
        if not holds:
            print("   ", detail, flush=True)
            self.failures += 1

    def finish(self):
        for program in self.programs:
            if program.poll() is None:
                program.kill()
            program.wait()
        shutil.rmtree(self.work)
        sys.exit(1 if self.failures else 0)

    def launch(self, *command, preload=None, stderr=subprocess.PIPE, **env):
        """A program; preload: False for none, a path behind the shim."""
        full = dict(self.env, **env)
        if preload is not False:
            full["LD_PRELOAD"] = ":".join(filter(None, [self.shim, preload]))
        program = subprocess.Popen(
            command, env=full, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=stderr, text=True)
        self.programs.append(program)
        return program

    def run(self, *arguments, user=None):
        """The tool; user: a uid to run it as."""
        command = [self.tool] + [str(a) for a in arguments]
        if user is not None:
            command = ["setpriv", f"--reuid={user}", "--clear-groups"] + command
        return subprocess.run(command, env=self.env, capture_output=True,
                              text=True, timeout=BOUND)

    def status(self, program):
        """`allocmux status --json` as {backend: figures}."""
        result = self.run("status", program.pid, "--json")
        if result.returncode != 0:
            raise SystemExit("FAILED: status: " + result.stderr)
        return {o["name"]: o for o in json.loads(result.stdout)["owners"]}

    def refused(self, claim, result, status, words):
        """One line on stderr that has the words, and this exit status."""
        lines = result.stderr.strip().split("\n")
        self.check(claim, result.returncode == status and len(lines) == 1
                   and words in result.stderr, result)


def until(condition):
    """Poll until the condition holds; what it gave, or None at the bound."""
    end = time.monotonic() + BOUND
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    return None


def ask(pid, *packets):
    """Raw bytes to the control socket of pid; all that comes back."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(BOUND)
        s.connect(f"\0allocmux/{pid}")
        answer = b""
        try:
            for packet in packets:
                s.sendall(packet)
            while chunk := s.recv(65536):
                answer += chunk
        except ConnectionResetError:
            pass
        return answer.decode()


def is_listening(pid):
    with open("/proc/net/unix") as sockets:
        return any(line.endswith(f"@allocmux/{pid}\n") for line in sockets)
