# SPDX-License-Identifier: MIT
"""A second reader of trace files, written from docs/trace-format.md alone.

For the end-to-end tests: small, strict, slow. It shares no code with the tool,
so the two check each other. Anything the document does not allow raises
TraceError.
"""
import collections
import math
import struct
import subprocess


class TraceError(Exception):
    pass


FILE_FIELDS = (
    ("major", "H"), ("minor", "H"), ("header_size", "I"), ("block_size", "I"),
    ("mode", "I"), ("machine", "I"), ("page_size", "I"), ("pid", "I"),
    ("ppid", "I"), ("image", "I"), ("site_size", "I"), ("features", "Q"),
    ("real_ns", "Q"), ("mono_ns", "Q"), ("tick_ns", "Q"), ("interval", "Q"),
    ("r0", "Q"), ("r1", "Q"), ("r2", "Q"), ("r3", "Q"),
    ("state", "I"), ("error", "I"), ("blocks", "Q"), ("end_ns", "Q"),
    ("lost_events", "Q"), ("lost_bytes", "Q"), ("total_live", "Q"),
    ("total_peak", "Q"), ("peak_ns", "Q"))
BLOCK = struct.Struct("<IBBHIIQQQQQII")
BLOCK_FIELDS = ("magic kind flags header_size lane sequence start_ns end_ns "
                "committed order events thread index").split()
SITE_FIELDS = ("allocs frees bytes usable live_bytes peak_bytes at_peak "
               "changed_peak temporary reallocs max_size live_usable").split()
EVENTS, STACKS, INFO, SITES = 1, 2, 3, 4
MODES = {1: "record", 2: "profile", 3: "sample"}
TEXTS = {1: "exe", 2: "cmdline", 3: "cwd", 4: "backend", 5: "backend_version",
         6: "version", 7: "options", 8: "parent"}
CALLS = ("malloc", "calloc", "realloc", "aligned")

Event = collections.namedtuple(
    "Event", "time thread op call align stack size excess addr")
Module = collections.namedtuple(
    "Module", "id epoch bias start end segments build_id path")


def recent_index(addr):
    return (((addr >> 4) & 0xffffffff) * 0x9e3779b1 & 0xffffffff) >> 24


class Cursor:
    def __init__(self, data, at, end):
        self.data, self.at, self.end = data, at, end

    def byte(self):
        if self.at >= self.end:
            raise TraceError("record cut off")
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7f) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise TraceError("varint too long")

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)


class Decoder:
    """One EVENTS block."""

    LENGTH = (1, 1, 2, 3, 4, 6, 0, 8)

    def __init__(self, data, header):
        lo, hi = header.committed & 0xffffffff, header.committed >> 32
        self.control = Cursor(data, 64, 64 + lo)
        self.data = data
        self.operand = len(data)
        self.operand_end = len(data) - hi
        self.time, self.thread = header.start_ns, header.thread
        self.slots, self.recent, self.last = {}, {}, {}
        self.last_alloc = self.last_free = 0

    def address(self, code, base, same):
        length = self.LENGTH[code]
        self.operand -= length
        if self.operand < self.operand_end:
            raise TraceError("operand cut off")
        raw = self.data[self.operand:self.operand + length]
        if code == 0:
            addr = self.recent[raw[0]]
        elif code == 6:
            addr = same
        elif code == 7:
            addr = int.from_bytes(raw, "little")
        else:
            addr = base + 8 * int.from_bytes(raw, "little", signed=True)
            addr &= (1 << 64) - 1
        self.recent[recent_index(addr)] = addr
        return addr

    def mark(self, kind, c):
        if kind == 1:
            self.time += c.varint()
        elif kind == 2:
            return self.event("lost", size=c.varint())
        elif kind == 3:
            return self.event("realloc_fail")
        elif kind == 4:
            how, stack, size = c.byte(), c.varint(), c.varint()
            return self.event("failed", how, stack, size)
        elif kind == 5:
            self.thread = c.varint()
        else:
            raise TraceError("unknown mark %d" % kind)
        return None

    def event(self, op, how=0, stack=0, size=0, excess=0, addr=0):
        return Event(self.time, self.thread, op, CALLS[how & 3],
                     1 << (how >> 2) if how >> 2 else 0, stack, size, excess,
                     addr)

    def events(self):
        c = self.control
        while c.at < c.end:
            tag = c.byte()
            op, code = tag & 7, tag >> 3
            if op == 0:
                event = self.mark(code, c)
                if event:
                    yield event
                continue
            if code > 7:
                raise TraceError("bad tag %#x" % tag)
            if op in (4, 5):
                addr = self.address(code, self.last_free, self.last_alloc)
                self.last_free = addr
                yield self.event("free" if op == 4 else "realloc", addr=addr)
                continue
            if op not in (1, 2, 3):
                raise TraceError("unknown op %d" % op)
            index = c.byte()
            if op == 2:
                self.slots[index] = (c.byte(), c.varint(), c.varint(),
                                     c.varint())
            how, stack, size, excess = self.slots[index]
            if op == 3:
                size, excess = c.varint(), c.varint()
                self.slots[index] = how, stack, size, excess
            key = ((size + excess) >> 4) % 64
            base = self.last.get(key, 0)
            addr = self.address(code, base, base)
            self.last[key] = self.last_alloc = addr
            yield self.event("alloc", how, stack, size, excess, addr)
        if self.operand != self.operand_end:
            raise TraceError("operands left over")


class Trace:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.packed = data[:4] == b"\x28\xb5\x2f\xfd"
        if self.packed:
            data = subprocess.run(["zstd", "-dcq"], input=data, check=True,
                                  stdout=subprocess.PIPE).stdout
        self.read_header(data, 0)
        self.stacks, self.texts, self.modules = {}, {}, []
        self.unloads, self.threads, self.names = {}, {}, {}
        self.forks, self.controls, self.summary = [], [], None
        self.sites, self.snapshots = [], collections.defaultdict(list)
        self.lanes = collections.defaultdict(list)
        self.counts = collections.Counter()
        self.read_blocks(data)

    def read_header(self, data, at):
        if data[at:at + 8] != b"AMUXTRC\0":
            raise TraceError("not a trace")
        values = struct.unpack_from(
            "<" + "".join(f for _, f in FILE_FIELDS), data, at + 8)
        self.file = dict(zip((n for n, _ in FILE_FIELDS), values))
        if self.file["major"] != 1:
            raise TraceError("version %d" % self.file["major"])
        self.mode = MODES[self.file["mode"]]

    def read_blocks(self, data):
        size = self.file["block_size"]
        orders = set()
        for at in range(size, len(data) - size + 1, size):
            block = data[at:at + size]
            if block[:8] == b"AMUXTRC\0":
                self.read_header(data, at)
                continue
            header = collections.namedtuple("Block", BLOCK_FIELDS)(
                *BLOCK.unpack_from(block))
            if header.magic == 0:
                continue
            if header.magic != 0x42584d41 or header.header_size != 64:
                raise TraceError("bad block at %d" % at)
            lo, hi = header.committed & 0xffffffff, header.committed >> 32
            if 64 + lo + hi > size:
                raise TraceError("bad committed length at %d" % at)
            if not self.packed and header.index != at // size:
                raise TraceError("bad index at %d" % at)
            if header.order in orders:
                raise TraceError("order %d twice" % header.order)
            orders.add(header.order)
            self.counts[header.kind] += 1
            if header.kind == EVENTS:
                self.lanes[header.lane].append((header, block))
            elif header.kind == STACKS:
                self.read_stacks(Cursor(block, 64, 64 + lo))
            elif header.kind == INFO:
                self.read_info(block, 64, 64 + lo)
            elif header.kind == SITES:
                self.read_sites(header, block)
        for blocks in self.lanes.values():
            blocks.sort(key=lambda pair: pair[0].sequence)

    def read_stacks(self, c):
        previous = []
        while c.at < c.end:
            number, epoch, shared, count = (c.varint() for _ in range(4))
            if number in self.stacks or shared > len(previous):
                raise TraceError("bad stack %d" % number)
            frames = previous[:shared]
            while len(frames) < count:
                before = frames[-1] if frames else 0
                frames.append((before + c.zigzag()) & ((1 << 64) - 1))
            self.stacks[number] = epoch, frames
            previous = frames

    def read_info(self, data, at, end):
        while at < end:
            kind, flags, length, when = struct.unpack_from("<HHIQ", data, at)
            if flags or length < 16 or at + length > end:
                raise TraceError("bad info record")
            body = data[at + 16:at + length]
            if kind == 1:
                key, size = struct.unpack_from("<II", body)
                self.texts.setdefault(TEXTS[key], []).append(body[8:8 + size])
            elif kind == 2:
                self.read_module(body)
            elif kind == 3:
                module, epoch = struct.unpack_from("<II", body)
                self.unloads[module] = epoch
            elif kind == 4:
                thread, tid = struct.unpack_from("<II", body)
                self.threads[thread] = tid
            elif kind == 5:
                thread, size = struct.unpack_from("<II", body)
                self.names[thread] = body[8:8 + size].decode()
            elif kind == 7:
                self.forks.append(struct.unpack_from("<I", body)[0])
            elif kind == 8:
                self.controls.append((when,) + struct.unpack_from("<II", body))
            elif kind == 9:
                names = ("allocs frees bytes threads stacks modules "
                         "lost_events lost_bytes").split()
                self.summary = dict(zip(names, struct.unpack("<8Q", body)))
            at += (length + 7) & ~7

    def read_module(self, body):
        (number, epoch, bias, start, end, count, id_size, path_size,
         _) = struct.unpack_from("<IIQQQIIII", body)
        at = 48
        segments = [struct.unpack_from("<QQQI", body, at + 32 * i)
                    for i in range(count)]
        at += 32 * count
        build_id = body[at:at + id_size].hex()
        path = body[at + id_size:at + id_size + path_size].decode()
        self.modules.append(Module(number, epoch, bias, start, end, segments,
                                   build_id, path))

    def read_sites(self, header, block):
        size = self.file["site_size"]
        for at in range(64, 64 + (header.committed & 0xffffffff), size):
            stack, _ = struct.unpack_from("<II", block, at)
            if stack == 0:
                continue
            values = struct.unpack_from("<12Q", block, at + 8)
            site = dict(zip(SITE_FIELDS, values), stack=stack)
            site["lifetimes"] = struct.unpack_from("<12Q", block, at + 160)
            if header.lane:
                self.snapshots[header.lane].append(site)
            else:
                self.sites.append(site)

    def lane_events(self, lane):
        for header, block in self.lanes[lane]:
            yield from Decoder(block, header).events()

    def events(self):
        """All events, lane after lane: right for one thread, and for counts."""
        for lane in sorted(self.lanes):
            yield from self.lane_events(lane)

    def module_of(self, addr, epoch):
        for m in self.modules:
            if (m.start <= addr < m.end and m.epoch <= epoch <
                    self.unloads.get(m.id, math.inf)):
                return m
        return None

    def weight(self, size):
        """How many allocations one sampled allocation stands for."""
        if self.mode != "sample":
            return 1.0
        return 1 / -math.expm1(-max(size, 1) / self.file["interval"])
