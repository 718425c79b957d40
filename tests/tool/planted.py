# SPDX-License-Identifier: MIT
# planted.py REPORT.json: are the figures those of planted.c?
import json
import sys

report = json.load(open(sys.argv[1]))
sites = {}
for entry in report["sites"]:
    cost = sites.setdefault(entry["site"]["function"], {})
    for key, value in entry["cost"].items():
        if isinstance(value, int):
            cost[key] = (max(cost.get(key, 0), value) if key == "max_size"
                         else cost.get(key, 0) + value)
wrong = 0


def expect(function, **figures):
    global wrong
    cost = sites.get(function, {})
    for key, value in figures.items():
        if cost.get(key) != value:
            print(f"{function}: {key} is {cost.get(key)}, not {value}")
            wrong += 1


expect("planted_leak", calls=100, bytes=100000, frees=0, leaked=100000,
       leaked_blocks=100, peak=100000, temporary=0, max_size=1000)
expect("planted_pairs", calls=5000, bytes=320000, frees=5000, leaked=0,
       peak=0, temporary=5000)
expect("planted_peak", calls=200, bytes=819200, frees=200, leaked=0,
       peak=819200)
expect("planted_realloc", calls=11, bytes=16 + 55 * 4096, frees=11,
       reallocs=10, leaked=0, max_size=40960)
expect("planted_recursion", calls=1, bytes=77, leaked=77)
expect("planted_inline", calls=1, bytes=33, leaked=33)

places = report["places"]
inline = [s for s in report["stacks"]
          if s["frames"] and places[s["frames"][0]]["function"] ==
          "planted_inline"]
names = [places[f]["function"] for f in inline[0]["frames"]] if inline else []
if names[:3] != ["planted_inline", "planted_outer", "main"]:
    print("the inlined call is shown as", names)
    wrong += 1
for name in ("planted_leak", "planted_inline"):
    place = next((p for p in places if p["function"] == name), {})
    if not place.get("file", "").endswith("planted.c") or not place.get("line"):
        print("no source line for", name)
        wrong += 1
folded = [s for s in report["stacks"]
          if s["frames"] and places[s["frames"][0]]["function"] ==
          "planted_recursion"]
if not folded or len(folded[0]["frames"]) > 8:
    print("the recursion is not folded")
    wrong += 1
sys.exit(wrong > 0)
