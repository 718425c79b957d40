# SPDX-License-Identifier: MIT
#
# report.py OUT - medians, ratios and curves from the raw results of matrix.sh
import sys, os, re, statistics as st, collections
d = sys.argv[1]; libs = [x.split("=")[0] for x in open(d + "/libs").read().split()]
R = collections.defaultdict(list); P = collections.defaultdict(list); order = []
for f in sorted(os.listdir(d)):
    m = re.match(r"([\w-]+)\.([\w-]+)\.(\d+)$", f)
    if not m: continue
    w, lib, r = m.groups()
    rl = [l for l in open(d + "/" + f, errors="replace") if l.startswith("RESULT")]
    if not rl: continue
    kv = dict(x.split("=", 1) for x in rl[-1].split()[1:] if "=" in x); R[w, lib].append(kv)
    if w not in order: order.append(w)
    for l in open(d + "/" + f, errors="replace"):
        if l.startswith("POINT"):
            k = dict(x.split("=", 1) for x in l.split()[1:] if "=" in x); P[w, k["series"], k["x"], lib].append(k)
def med(w, l, k):
    v = [float(x[k]) for x in R[w, l] if x.get("ok") == "1" and x.get(k)]; return st.median(v) if v else None
def spread(w, l, k):
    v = [float(x[k]) for x in R[w, l] if x.get("ok") == "1" and x.get(k)]; return (max(v) / min(v)) if v and min(v) > 0 else 0
def rat(a, b): return "   -  " if a is None or not b else "%6.3f" % (a / b)
base = libs[0]
print(f"\nbase={base}; each cell = median over the rounds, ratio to base. metric: >1 better if unit is tps/ops, <1 better if s; cpu and rss: <1 better")
print("%-12s %-4s %3s | %10s %s | %10s %s | %9s %s | %s" % ("workload", "unit", "n", "metric", " ".join("%8s" % l[:8] for l in libs[1:]), "cpu_cost", " ".join("%8s" % l[:8] for l in libs[1:]), "rss_kb", " ".join("%8s" % l[:8] for l in libs[1:]), "base-spread(cpu) fails"))
G = collections.defaultdict(list)
for w in order:
    u = R[w, base][0]["unit"] if R[w, base] else "?"
    fails = " ".join(f"{l}:{sum(x['ok'] != '1' for x in R[w, l])}/{len(R[w, l])}({','.join(sorted({x.get('why','') for x in R[w,l] if x['ok']!='1'}))[:60]})" for l in libs if any(x["ok"] != "1" for x in R[w, l]))
    row = []
    for k in ("metric", "cpu_cost", "rss_kb"):
        b = med(w, base, k); c = []
        for l in libs[1:]:
            a = med(w, l, k); c.append("  " + rat(a, b))
            if a and b: G[k, l].append((a / b) if not (k == "metric" and u != "s") else b / a)
        row.append(("%.4g" % b if b is not None else "-", " ".join(c)))
    print("%-12s %-4s %3d | %10s %s | %10s %s | %9s %s | %.2f %s" % (w, u, len(R[w, base]), *row[0], *row[1], *row[2], spread(w, base, "cpu_cost"), fails))
gm = lambda v: st.geometric_mean(v) if v else 0
print("geomean (cost ratio, <1 better): " + "; ".join(f"{l}: time {gm(G['metric', l]):.3f} cpu {gm(G['cpu_cost', l]):.3f} rss {gm(G['rss_kb', l]):.3f}" for l in libs[1:]))
for w in order:
    ks = []
    for (a, s, x, l) in P:
        if a == w and (s, x) not in ks: ks.append((s, x))
    if not ks: continue
    extra = [e for e in ("cpu_us", "rss_kb", "anon_kb", "vsz_kb", "rss_over_used") if any(e in k for kk in P if kk[0] == w for k in P[kk])]
    print(f"\n[{w}] medians: value {' '.join(extra)} per library")
    print("%-18s %-6s %s" % ("series", "x", "".join("| %-*s" % (12 * (1 + len(extra)), l) for l in libs)))
    for s, x in ks:
        c = ""
        for l in libs:
            pts = P[w, s, x, l]; g = lambda e: ("%.6g" % st.median([float(p[e]) for p in pts if e in p])) if any(e in p for p in pts) else "-"
            c += "| " + "".join("%-12s" % g(e) for e in ["value"] + extra)
        print("%-18s %-6s %s" % (s, x, c))
