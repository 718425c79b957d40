# SPDX-License-Identifier: MIT
"""Programs with planted allocations, traced; see subject.cc.

AMUX_SHIM, AMUX_SUBJECT and AMUX_PLUGIN name the library and the programs.
"""
import bisect
import collections
import glob
import math
import os
import resource
import signal
import subprocess
import tempfile
import unittest

import amuxtrace

SHIM = os.environ["AMUX_SHIM"]
SUBJECT = os.environ["AMUX_SUBJECT"]
PLUGIN = os.environ["AMUX_PLUGIN"]


class Symbols:
    def __init__(self, path):
        listing = subprocess.check_output(["nm", "-n", path], text=True)
        rows = [line.split() for line in listing.splitlines()]
        rows = [(int(r[0], 16), r[2]) for r in rows
                if len(r) == 3 and r[1] in "tTwW"]
        self.starts = [row[0] for row in rows]
        self.names = [row[1] for row in rows]

    def name(self, addr):
        i = bisect.bisect_right(self.starts, addr) - 1
        return self.names[i] if i >= 0 else "?"


SYMBOLS = Symbols(SUBJECT)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="amux-trace-")
        self.addCleanup(self.folder.cleanup)

    def run_subject(self, *scenarios, mode="record", status=0, shim=SHIM,
                    preexec=None, stderr="", **options):
        env = {k: v for k, v in os.environ.items()
               if not k.startswith("ALLOC_")}
        env.update(LD_PRELOAD=shim, SUBJECT_PLUGIN=PLUGIN)
        env.update(ALLOC_TRACE=mode, ALLOC_BACKEND="system",
                   ALLOC_TRACE_FILE=self.folder.name + "/%p.trace")
        env.update(("ALLOC_" + k, str(v)) for k, v in options.items())
        done = subprocess.run([SUBJECT, *scenarios], env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=preexec, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        if stderr is not None:
            self.assertEqual(done.stderr, stderr)
        return done.stdout

    def traces(self):
        paths = sorted(glob.glob(self.folder.name + "/*"),
                       key=os.path.getmtime)
        return [amuxtrace.Trace(path) for path in paths]

    def trace(self):
        traces = self.traces()
        self.assertEqual(len(traces), 1)
        return traces[0]

    def plant_of(self, trace, stack):
        """Name of the innermost plant_ function on a stack."""
        epoch, frames = trace.stacks[stack]
        for addr in reversed(frames):
            module = trace.module_of(addr - 1, epoch) if addr else None
            if module and module.path == os.path.realpath(SUBJECT):
                name = SYMBOLS.name(addr - 1 - module.bias)
                if name.startswith("plant_"):
                    return name
        return "other"

    def planted(self, trace):
        """Per plant: allocations, bytes and frees of blocks made there."""
        out = collections.defaultdict(collections.Counter)
        live = {}
        begun = None
        for event in trace.events():
            if event.op == "alloc":
                name = self.plant_of(trace, event.stack)
                out[name]["allocs"] += 1
                out[name]["bytes"] += event.size
                out[name][event.call] += 1
                live[event.addr] = name, event
                begun = None
            elif event.op in ("free", "realloc"):
                name, block = live.pop(event.addr, ("unknown", None))
                out[name]["frees"] += 1
                begun = (event.addr, name, block) if event.op != "free" else None
            elif event.op == "realloc_fail":
                live[begun[0]] = begun[1:]
                out[begun[1]]["frees"] -= 1
            elif event.op == "failed":
                out[self.plant_of(trace, event.stack)]["failed"] += 1
        return out, live


class Record(Case):
    def test_planted_counts_are_exact(self):
        self.run_subject("all")
        out, live = self.planted(self.trace())
        self.assertEqual(out["plant_leak"], {
            "allocs": 100, "bytes": 3300, "malloc": 100})
        self.assertEqual(out["plant_temporary"], {
            "allocs": 1000, "bytes": 64999, "malloc": 1000, "frees": 1000})
        self.assertEqual(out["plant_calloc"], {
            "allocs": 10, "bytes": 770, "calloc": 10})
        self.assertEqual(out["plant_aligned"], {
            "allocs": 10, "bytes": 5050, "aligned": 10})
        self.assertEqual(out["plant_realloc"], {
            "allocs": 51, "bytes": 10 + sum(10 + 10 * i for i in range(1, 51)),
            "malloc": 1, "realloc": 50, "frees": 51})
        self.assertEqual(
            sum(name == "plant_leak" for name, _ in live.values()), 100)

    def test_counts_are_the_same_under_every_backend(self):
        for backend in ("percpu", "dl"):
            with self.subTest(backend=backend), \
                    tempfile.TemporaryDirectory() as folder:
                self.run_subject("all", "threads", BACKEND=backend,
                                 TRACE_FILE=folder + "/%p.trace")
                trace = amuxtrace.Trace(glob.glob(folder + "/*")[0])
                out, _ = self.planted(trace)
                self.assertEqual(trace.texts["backend"], [backend.encode()])
                self.assertEqual(out["plant_leak"]["allocs"], 4100)
                self.assertEqual(out["plant_temporary"]["frees"], 41000)
                self.assertEqual(out["plant_calloc"]["bytes"], 770)

    def test_alignment_is_recorded(self):
        self.run_subject("all")
        trace = self.trace()
        aligns = collections.Counter(
            e.align for e in trace.events() if e.call == "aligned"
            and e.op == "alloc")
        self.assertEqual(aligns, {256: 5, 64: 5})

    def test_usable_size_is_recorded(self):
        self.run_subject("leak")
        trace = self.trace()
        usable = {e.size + e.excess for e in trace.events()
                  if e.op == "alloc" and e.size == 33}
        self.assertEqual(usable, {40})

    def test_failed_allocations_leave_the_block(self):
        self.run_subject("failed")
        out, _ = self.planted(self.trace())
        self.assertEqual(out["plant_failed"],
                         {"allocs": 1, "bytes": 10, "malloc": 1, "frees": 1,
                          "failed": 2})

    def test_threads_are_told_apart_and_named(self):
        self.run_subject("threads")
        trace = self.trace()
        out, _ = self.planted(trace)
        self.assertEqual(out["plant_leak"]["allocs"], 4000)
        self.assertEqual(out["plant_temporary"]["frees"], 40000)
        self.assertEqual(len(trace.threads), 401)
        self.assertEqual({n for t, n in trace.names.items() if t > 1},
                         {"worker-%d" % i for i in range(10)})
        leaks = collections.Counter(
            e.thread for e in trace.events()
            if e.op == "alloc" and e.size == 33)
        self.assertEqual(set(leaks.values()), {10})

    def test_short_threads_share_blocks(self):
        self.run_subject("threads")
        trace = self.trace()
        self.assertLess(trace.counts[amuxtrace.EVENTS], 40)

    def test_late_destructors_are_traced(self):
        self.run_subject("late")
        out, _ = self.planted(self.trace())
        self.assertEqual(out["plant_leak"]["allocs"], 20 * (3 + 4))

    def test_handlers_are_traced(self):
        self.run_subject("signals")
        out, _ = self.planted(self.trace())
        self.assertEqual(out["plant_in_handler"]["allocs"], 50)

    def test_blocks_that_change_threads_all_end(self):
        """The rule "Which thread first?" of the document, without times."""
        self.run_subject("exchange")
        trace = self.trace()
        queues = [collections.deque(trace.lane_events(lane))
                  for lane in trace.lanes]
        live, owed = {}, collections.Counter()
        while any(queues):
            progress = False
            for queue in queues:
                while queue:
                    event = queue[0]
                    if (event.op == "alloc") == (event.addr in live):
                        break
                    if event.op != "alloc":
                        del live[event.addr]
                    elif owed[event.addr]:
                        owed[event.addr] -= 1
                    else:
                        live[event.addr] = event.size
                    queue.popleft()
                    progress = True
            if not progress:
                queue = next(q for q in queues if q)
                event = queue.popleft()
                self.assertNotEqual(event.op, "alloc")
                owed[event.addr] += 1
        self.assertEqual([a for a, size in live.items() if size == 32], [])
        self.assertEqual(sum(owed.values()), 0)

    def test_the_root_of_a_deep_stack_is_kept(self):
        self.run_subject("deep")
        trace = self.trace()
        stack = next(e.stack for e in trace.events()
                     if e.op == "alloc" and e.size == 77)
        epoch, frames = trace.stacks[stack]
        main = [a for a in frames[:8] if a and trace.module_of(a, epoch)]
        names = [SYMBOLS.name(a - 1 - trace.module_of(a, epoch).bias)
                 for a in main if trace.module_of(a, epoch).path
                 == os.path.realpath(SUBJECT)]
        self.assertIn("main", names)
        self.assertGreater(len(frames), 256)

    def test_our_own_frames_are_cut(self):
        self.run_subject("all")
        trace = self.trace()
        shims = {m.id for m in trace.modules if "allocmux" in m.path}
        for epoch, frames in trace.stacks.values():
            module = trace.module_of(frames[-1] - 1, epoch)
            self.assertNotIn(module and module.id, shims)

    def test_a_module_loaded_again_is_another_module(self):
        self.run_subject("plugin")
        trace = self.trace()
        stacks = {e.stack for e in trace.events()
                  if e.op == "alloc" and e.size == 123}
        loads = [m for m in trace.modules
                 if m.path == os.path.realpath(PLUGIN)]
        self.assertEqual(len(loads), 3)
        self.assertEqual(len(stacks), 3)
        for stack in stacks:
            epoch, frames = trace.stacks[stack]
            self.assertEqual(trace.module_of(frames[-1] - 1, epoch).path,
                             os.path.realpath(PLUGIN))

    def test_build_ids_are_those_of_the_files(self):
        self.run_subject("leak")
        for module in self.trace().modules:
            if os.path.isabs(module.path):
                notes = subprocess.check_output(
                    ["readelf", "-n", module.path], text=True)
                self.assertIn("Build ID: " + module.build_id, notes)

    def test_summary_agrees_with_the_events(self):
        self.run_subject("all", "threads")
        trace = self.trace()
        ops = collections.Counter(e.op for e in trace.events())
        self.assertEqual(trace.summary["allocs"], ops["alloc"])
        self.assertEqual(trace.summary["frees"], ops["free"] + ops["realloc"])
        self.assertEqual(trace.summary["lost_events"], 0)
        self.assertEqual(trace.file["state"], 1)

    def test_size_is_within_seven_bytes_an_event(self):
        self.run_subject("many")
        trace = self.trace()
        size = trace.counts[amuxtrace.EVENTS] * trace.file["block_size"]
        self.assertLess(size / 200000, 7)


class Profile(Case):
    def sites(self, trace):
        out = collections.defaultdict(collections.Counter)
        for site in trace.sites:
            name = self.plant_of(trace, site["stack"])
            for field in amuxtrace.SITE_FIELDS:
                out[name][field] += site[field]
            out[name]["lives"] += sum(site["lifetimes"])
        return out

    def test_planted_counts_are_exact(self):
        self.run_subject("all", mode="profile")
        out = self.sites(self.trace())
        leak = out["plant_leak"]
        self.assertEqual([leak[k] for k in (
            "allocs", "frees", "bytes", "usable", "live_bytes", "peak_bytes",
            "temporary", "max_size", "live_usable", "lives")],
            [100, 0, 3300, 4000, 3300, 3300, 0, 33, 4000, 0])
        temporary = out["plant_temporary"]
        self.assertEqual([temporary[k] for k in (
            "allocs", "frees", "bytes", "live_bytes", "peak_bytes",
            "temporary", "max_size", "lives")],
            [1000, 1000, 64999, 0, 66, 1000, 66, 1000])
        self.assertEqual(out["plant_calloc"]["bytes"], 770)
        self.assertEqual(out["plant_aligned"]["bytes"], 5050)
        moved = out["plant_realloc"]
        self.assertEqual((moved["allocs"], moved["reallocs"], moved["frees"],
                          moved["live_bytes"]), (51, 50, 51, 0))

    def test_peak_is_the_sum_of_the_sites_at_the_peak(self):
        self.run_subject("all", mode="profile")
        trace = self.trace()
        peak = trace.file["total_peak"]
        at_peak = sum(s["at_peak"] if s["changed_peak"] == peak
                      else s["live_bytes"] for s in trace.sites)
        self.assertEqual(at_peak, peak)

    def test_totals_are_exact_over_threads(self):
        self.run_subject("threads", "exchange", mode="profile")
        trace = self.trace()
        out = self.sites(trace)
        self.assertEqual(out["plant_leak"]["live_bytes"], 4000 * 33)
        self.assertEqual(out["plant_temporary"]["allocs"], 40000)
        self.assertEqual(out["plant_temporary"]["frees"], 40000)
        self.assertEqual(trace.file["total_live"],
                         sum(s["live_bytes"] for s in trace.sites))
        self.assertEqual(trace.file["lost_events"], 0)

    def test_failed_realloc_keeps_the_block(self):
        self.run_subject("failed", mode="profile")
        out = self.sites(self.trace())
        self.assertEqual(
            [out["plant_failed"][k] for k in ("allocs", "frees", "reallocs")],
            [1, 1, 0])


class Sample(Case):
    def test_estimates_are_within_three_standard_errors(self):
        interval = 20000
        self.run_subject("sizes", mode="sample", SAMPLE_BYTES=interval)
        trace = self.trace()
        for size in (1000, 5000, 40000):
            chance = -math.expm1(-size / interval)
            count = sum(1 for e in trace.events() if e.op == "alloc"
                        and e.size == size
                        and self.plant_of(trace, e.stack) == "plant_sizes")
            error = math.sqrt(20000 * chance * (1 - chance))
            self.assertLess(abs(count - 20000 * chance), 3 * error, size)

    def test_every_sampled_block_ends_in_the_trace(self):
        self.run_subject("sizes", mode="sample", SAMPLE_BYTES=5000)
        out, live = self.planted(self.trace())
        self.assertEqual(out["plant_sizes"]["allocs"],
                         out["plant_sizes"]["frees"])
        self.assertNotIn("unknown", out)
        self.assertFalse([n for n, _ in live.values() if n == "plant_sizes"])

    def test_every_block_is_sampled_at_one_byte(self):
        self.run_subject("leak", mode="sample", SAMPLE_BYTES=1)
        out, _ = self.planted(self.trace())
        self.assertEqual(out["plant_leak"]["allocs"], 100)


class File(Case):
    def ends(self, how, status):
        for mode in ("record", "profile"):
            with self.subTest(mode=mode):
                self.run_subject("leak", how, mode=mode, status=status)
        traces = self.traces()
        self.assertEqual(len(traces), 2)
        for trace in traces:
            self.assertEqual(trace.file["state"], 0)
            if trace.mode == "record":
                count = self.planted(trace)[0]["plant_leak"]["allocs"]
            else:
                count = sum(s["allocs"] for s in trace.sites if self.plant_of(
                    trace, s["stack"]) == "plant_leak")
            self.assertEqual(count, 100)

    def test_sigkill_loses_nothing(self):
        self.ends("kill", -signal.SIGKILL)

    def test_abort_loses_nothing(self):
        self.ends("abort", -signal.SIGABRT)

    def test_exit_without_handlers_loses_nothing(self):
        self.ends("_exit", 0)

    def test_a_forked_child_has_its_own_file(self):
        for mode in ("record", "profile"):
            with self.subTest(mode=mode), tempfile.TemporaryDirectory() as d:
                out = self.run_subject("leak", "fork", mode=mode,
                                       TRACE_FILE=d + "/%p.trace")
                child = int(out.split()[1])
                files = {amuxtrace.Trace(p).file["pid"]: amuxtrace.Trace(p)
                         for p in glob.glob(d + "/*")}
                self.assertEqual(len(files), 2)
                for pid, trace in files.items():
                    if mode == "record":
                        leaks = self.planted(trace)[0]["plant_leak"]["allocs"]
                    else:
                        leaks = sum(s["allocs"] for s in trace.sites
                                    if self.plant_of(trace, s["stack"])
                                    == "plant_leak")
                    self.assertEqual(leaks, 7 if pid == child else 102)
                    self.assertEqual(bool(trace.file["features"] & 8),
                                     pid == child)

    def test_exec_begins_the_next_image(self):
        self.run_subject("leak", "exec")
        images = sorted(t.file["image"] for t in self.traces())
        self.assertEqual(images, [0, 1])
        for trace in self.traces():
            self.assertEqual(self.planted(trace)[0]["plant_leak"]["allocs"],
                             100)

    def test_closed_descriptors_do_not_matter(self):
        self.run_subject("closefds", "many", "leak")
        self.assertEqual(
            self.planted(self.trace())[0]["plant_leak"]["allocs"], 100)

    def test_a_limit_on_file_size_is_a_counted_loss(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (512 << 10, 512 << 10))
        self.run_subject("many", "leak", preexec=limit)
        trace = self.trace()
        self.assertEqual(trace.file["state"], 3)
        counted = sum(1 for e in trace.events() if e.op in ("alloc", "free"))
        self.assertGreaterEqual(counted + trace.file["lost_events"], 200100)
        self.assertGreater(trace.file["lost_events"], 0)

    def test_the_size_limit_holds(self):
        self.run_subject("many", TRACE_SIZE_LIMIT="512k")
        trace = self.trace()
        self.assertEqual(trace.file["state"], 3)
        self.assertGreater(trace.file["lost_events"], 0)
        self.assertLessEqual(trace.file["blocks"] * 65536, 512 << 10)

    def test_the_ring_keeps_the_end(self):
        self.run_subject("many", "many", "leak", TRACE_SIZE_LIMIT="512k",
                         TRACE_RING=1)
        trace = self.trace()
        self.assertLessEqual(trace.file["blocks"] * 65536, 512 << 10)
        self.assertEqual(trace.file["lost_events"], 0)
        self.assertEqual(
            self.planted(trace)[0]["plant_leak"]["allocs"], 100)

    def test_a_duration_stops_the_trace(self):
        self.run_subject("leak", "sleep", "leak", "sleep", "leak",
                         TRACE_DURATION="0.01")
        trace = self.trace()
        self.assertEqual(trace.file["state"], 2)
        self.assertLess(
            self.planted(trace)[0]["plant_leak"]["allocs"], 300)

    def test_a_delay_starts_the_trace_later(self):
        self.run_subject("leak", "sleep", "leak", "leak",
                         TRACE_DELAY="0.02")
        trace = self.trace()
        count = self.planted(trace)[0]["plant_leak"]["allocs"]
        self.assertGreaterEqual(count, 100)
        self.assertLess(count, 300)
        self.assertEqual(trace.file["features"] & 2, 0)

    def test_a_threshold_of_live_bytes_starts_the_trace(self):
        self.run_subject(*["leak"] * 60, TRACE_LIVE="200k")
        trace = self.trace()
        count = self.planted(trace)[0]["plant_leak"]["allocs"]
        self.assertGreater(count, 100)
        self.assertLess(count, 3500)

    def test_a_folder_that_is_missing_is_one_line(self):
        path = self.folder.name + "/no/%p.trace"
        self.run_subject(
            "leak", TRACE_FILE=path,
            stderr="allocmux: cannot create trace file %s: the folder does "
            "not exist; not tracing\n" % path)

    def test_process_is_described(self):
        self.run_subject("leak")
        texts = self.trace().texts
        self.assertEqual(texts["exe"], [os.path.realpath(SUBJECT).encode()])
        self.assertEqual(texts["cmdline"], [SUBJECT.encode() + b"\0leak\0"])
        self.assertEqual(texts["backend"], [b"system"])
        self.assertIn(b"ALLOC_TRACE=record\0", texts["options"][0])


class Process(Case):
    def test_unwinding_of_the_program_stays_its_own(self):
        homes = dict(line.split() for line in
                     self.run_subject("homes").splitlines())
        self.assertIn("libc.so", homes["backtrace"])
        self.assertIn("libc.so", homes["dl_iterate_phdr"])
        self.assertIn("libgcc_s", homes["_Unwind_RaiseException"])
        self.assertIn("libgcc_s", homes["_Unwind_Resume"])

    def test_exceptions_work(self):
        for mode in ("record", "profile", "sample"):
            self.run_subject("throw", mode=mode)


class Tool(Case):
    """allocmux trace: packs what the program writes, while it writes."""

    def run_tool(self, *command, mode="record", status=0):
        self.output = self.folder.name + "/out.trace.zst"
        env = {k: v for k, v in os.environ.items()
               if not k.startswith("ALLOC_")}
        env["ALLOCMUX_SHIM"] = SHIM
        done = subprocess.run(
            [os.environ["AMUX_TOOL"], "trace", "--mode", mode, "-o",
             self.output, "--", *command], env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_a_packed_trace_is_exact(self):
        self.run_tool(SUBJECT, "all", "threads", "many")
        trace = amuxtrace.Trace(self.output)
        out, _ = self.planted(trace)
        self.assertEqual(out["plant_leak"]["allocs"], 4100)
        self.assertEqual(out["plant_temporary"]["frees"], 141000)
        self.assertEqual(trace.file["state"], 1)
        for lane, blocks in trace.lanes.items():
            self.assertEqual([h.sequence for h, _ in blocks],
                             list(range(len(blocks))), lane)

    def test_a_packed_profile_is_exact(self):
        self.run_tool(SUBJECT, "all", mode="profile")
        trace = amuxtrace.Trace(self.output)
        leaks = sum(s["live_bytes"] for s in trace.sites
                    if self.plant_of(trace, s["stack"]) == "plant_leak")
        self.assertEqual(leaks, 3300)

    def test_a_killed_program_leaves_its_trace(self):
        self.run_tool(SUBJECT, "leak", "kill", status=128 + 9)
        out, _ = self.planted(amuxtrace.Trace(self.output))
        self.assertEqual(out["plant_leak"]["allocs"], 100)

    def test_children_have_traces_of_their_own(self):
        done = self.run_tool(SUBJECT, "leak", "fork")
        child = int(done.stdout.split()[1])
        other = "%s/out-%d.0.trace.zst" % (self.folder.name, child)
        self.assertEqual(self.planted(
            amuxtrace.Trace(other))[0]["plant_leak"]["allocs"], 7)

    def test_the_exit_status_is_the_programs(self):
        self.run_tool("sh", "-c", "exit 7", status=7)
        self.run_tool("/no/such/program", status=127)
        self.run_tool(SUBJECT, "leak", mode="nonsense", status=125)

    def test_the_summary_is_printed(self):
        done = self.run_tool(SUBJECT, "all")
        self.assertIn("plant_leak", done.stdout)


if __name__ == "__main__":
    unittest.main()
