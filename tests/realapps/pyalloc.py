# SPDX-License-Identifier: MIT
#
# allocation-heavy python program written for this project; prints a digest of its results
import sys, json, re, hashlib, random, collections, gc, itertools, threading, zlib, decimal, fractions
n = int(sys.argv[1]); r = random.Random(5); H = hashlib.sha256()
def out(x): H.update(repr(x).encode())
class Node:
    def __init__(self, k): self.k = k; self.l = None; self.r = None; self.p = {}
def tree(m):
    root = Node(r.random())
    for i in range(m):
        k = r.random(); t = root
        while True:
            if k < t.k:
                if t.l is None: t.l = Node(k); t.l.p["i"] = i; break
                t = t.l
            else:
                if t.r is None: t.r = Node(k); t.r.p["i"] = i; break
                t = t.r
    def walk(t): return 0 if t is None else 1 + walk(t.l) + walk(t.r)
    return walk(root)
def strings(m):
    d = collections.defaultdict(list)
    for i in range(m):
        s = "".join(chr(97 + (i * j) % 26) for j in range(1, 3 + i % 40)); d[s[:3]].append(s + str(i))
    return sorted((k, len(v), zlib.crc32("".join(v).encode())) for k, v in d.items())[:50]
def js(m):
    o = [{"id": i, "name": "n%d" % i, "tags": ["t%d" % (i % k) for k in range(1, 8)], "v": {"a": i / 3, "b": [i] * (i % 9)}} for i in range(m)]
    s = json.dumps(o); p = json.loads(s); assert p == o; return len(s), zlib.crc32(s.encode())
def bignum(m): 
    a = 1
    for i in range(1, m): a = a * i + (a >> 7)
    return a % (10**30), sum(fractions.Fraction(1, i) for i in range(1, 200)).numerator % 10**12
def dq(m):
    q = collections.deque(maxlen=m // 3); t = 0
    for i in range(m): q.append(bytearray(i % 700)); t += len(q[0])
    return t
def rx(m):
    t = " ".join("word%d=%d;" % (i % 97, i) for i in range(m)); return len(re.findall(r"(\w+)=(\d+);", t)), zlib.crc32(re.sub(r"word(\d)", r"W\1x", t).encode())
def sets(m): 
    a = {(i * 7919) % m for i in range(m)}; b = {str(i) for i in range(0, m, 3)}; f = frozenset(itertools.islice(((i, str(i)) for i in range(m)), m // 2)); return len(a), len(b), len(f)
def cyc(m):
    for i in range(m): a = []; b = [a, {}]; a.append(b); b[1]["x"] = a
    return gc.collect() >= 0
def thr(m):
    res = [None] * 4
    def w(k):
        l = []
        for i in range(m): l.append((str(i * k), [i] * 3)); 
        res[k] = zlib.crc32(repr(l[-100:]).encode())
    ts = [threading.Thread(target=w, args=(k,)) for k in range(4)]; [t.start() for t in ts]; [t.join() for t in ts]; return res
for rep in range(2):
    for f, m in ((tree, 12000), (strings, 25000), (js, 6000), (bignum, 2500), (dq, 60000), (rx, 40000), (sets, 60000), (cyc, 60000), (thr, 15000)):
        out((f.__name__, f(m * n // 10)))
print(H.hexdigest())
