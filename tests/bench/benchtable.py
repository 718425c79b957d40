# SPDX-License-Identifier: MIT
"""Tables and plots from the results of benchwork's workloads.

A result is {work: {allocator: {metric: [values]}}}. Every table shows the
ratio of the median (of the least time, with --least) to the best peer's; the peers are
all allocators that are not ours, "none" (libc's) included. Spread is the
distance of the extremes over the median, the widest of the row. Ours is bold
where it is worse than the best peer by more than LOSS allows.
"""
import math
import statistics
import subprocess

import benchwork

METRICS = (("cpu", "CPU time", "s"),
           ("wall_work", "Wall time, rows of several threads", "s"),
           ("peak_kib", "Peak resident size", "KiB"),
           ("minor_faults", "Minor faults", "faults"))
LOSS = {"wall_work": 1.10, "cpu": 1.10, "peak_kib": 1.20, "minor_faults": 2.0}
KINDS = (("load", "loads"), ("program", "programs"),
         ("floor", "one pattern"))


# Time's figure of several runs; --least sets min.
time_figure = statistics.median


def median(values):
    """The median, or None without values."""
    return statistics.median(values) if values else None


def figure(metric, values):
    """What stands for the values of several runs."""
    if metric in ("wall_work", "cpu"):
        return time_figure(values) if values else None
    return median(values)


def spread(values):
    """Distance of the extremes over the median."""
    middle = median(values)
    return (max(values) - min(values)) / middle if middle else 0.0


def is_peer(name):
    """Not one of ours."""
    return not name.startswith("ours-")


def best_peer(row, metric):
    """(name, median) of the least peer in `row`, or None."""
    found = [(figure(metric, row[name][metric]), name) for name in row
             if is_peer(name) and row[name].get(metric)]
    return min(found)[::-1] if found else None


def geometric_mean(values):
    """The geometric mean, or None without values."""
    if not values:
        return None
    return math.exp(sum(math.log(value) for value in values) / len(values))


def print_row(cells, widths):
    """One Markdown row, padded."""
    print("| " + " | ".join(str(cell).ljust(width) if place == 0 else
                            str(cell).rjust(width) for place, (cell, width)
                            in enumerate(zip(cells, widths))) + " |")


def print_table(header, rows):
    """A Markdown table."""
    widths = [max(len(str(row[place])) for row in [header] + rows)
              for place in range(len(header))]
    print_row(header, widths)
    print("|" + "|".join("-" * (width + 1) + (":" if place else "-")
                         for place, width in enumerate(widths)) + "|")
    for row in rows:
        print_row(row, widths)
    print()


def ratios(results, works, names, metric):
    """{name: [ratio to the best peer]} and the table's rows."""
    columns = {name: [] for name in names}
    rows = []
    shown = "%.3g s" if metric in ("wall_work", "cpu") else "%d"
    for work in works:
        row = results.get(work.name, {})
        best = best_peer(row, metric)
        if not best:
            continue
        cells = [work.name, "%s %s" % (best[0], shown % best[1])]
        widest = 0.0
        for name in names:
            values = row.get(name, {}).get(metric)
            if not values:
                cells.append("failed" if name in row else "-")
                continue
            ratio = figure(metric, values) / best[1] if best[1] else 1.0
            columns[name].append(max(ratio, 1e-3))
            widest = max(widest, spread(values))
            lost = not is_peer(name) and ratio > LOSS[metric]
            cells.append(("**%.2f**" if lost else "%.2f") % ratio)
        cells.append("%.0f %%" % (100 * widest))
        rows.append(cells)
    return columns, rows


def print_means(columns, names, rows, label):
    """Add the row of geometric means."""
    means = [geometric_mean(columns[name]) for name in names]
    most = max(len(columns[name]) for name in names)
    rows.append([label, ""] + [
        "-" if mean is None else
        "%.2f%s" % (mean, "" if len(columns[name]) == most else "*")
        for name, mean in zip(names, means)] + [""])


def print_summary(results, names):
    """Geometric means only."""
    rows = []
    for kind, label in KINDS:
        for metric, what, _ in METRICS:
            columns, found = ratios(results, works_of(kind), names, metric)
            if found:
                print_means(columns, names, rows, "%s: %s" % (label, what))
                rows[-1] = [rows[-1][0], str(len(found)), *rows[-1][2:-1]]
    if rows:
        print("### Geometric means of the ratios to the best peer\n")
        print_table(["figure", "rows", *names], rows)


def works_of(kind):
    """The rows of one kind."""
    return [work for work in benchwork.WORKLOADS + benchwork.PROGRAMS
            if work.kind == kind]


def print_ratios(results, names):
    """A table of ratios for each metric."""
    for metric, title, unit in METRICS:
        header = ["workload", "best peer (%s)" % unit, *names,
                  "spread"]
        rows = []
        for kind, label in KINDS:
            if kind == "floor" and metric != "cpu":
                continue
            columns, found = ratios(results, works_of(kind), names, metric)
            if found:
                rows += found
                print_means(columns, names, rows, "geometric mean, " + label)
        if rows:
            print("### %s, ratio to the best peer\n" % title)
            print_table(header, rows)


def print_extra(results, names):
    """What the workloads report beside time and size."""
    rows = []
    for work in benchwork.WORKLOADS + benchwork.LONG:
        row = results.get(work.name, {})
        for key in work.extra:
            cells = [work.name, benchwork.EXTRA[key]]
            for name in names:
                value = median(row.get(name, {}).get(key, []))
                cells.append("-" if value is None else
                             "%.2f" % value if "over" in key or
                             key == "kib_thread" else "%d" % value)
            if any(cell != "-" for cell in cells[2:]):
                rows.append(cells)
    if rows:
        print("### Memory, absolute\n")
        print_table(["workload", "figure", *names], rows)


def plot(results, names, path):
    """Geometric means of time against peak size, one point each: SVG."""
    points = []
    works = [work for work in benchwork.WORKLOADS if work.kind == "load"]
    times, _ = ratios(results, works, names, "cpu")
    sizes, _ = ratios(results, works, names, "peak_kib")
    for name in names:
        if times[name] and sizes[name]:
            points.append('%.4f %.4f "%s"' % (
                geometric_mean(times[name]), geometric_mean(sizes[name]),
                name))
    script = "\n".join((
        "set terminal svg size 720,480 background '#ffffff'",
        "set output '%s'" % path.replace("'", "''"),
        "set title 'Geometric means over the workloads; 1 is the best peer "
        "of each'",
        "set xlabel 'CPU time, ratio to the best peer'",
        "set ylabel 'peak resident size, ratio to the best peer'",
        "set grid", "unset key", "set offsets graph 0.1, 0.15, 0.1, 0.1",
        "plot '-' using 1:2:3 with labels point pt 7 offset char 0,0.8",
        *points, "e", ""))
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
