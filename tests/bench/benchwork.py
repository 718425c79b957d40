# SPDX-License-Identifier: MIT
"""The workloads: which program in which mode, and what is compared.

`time` is CPU time (user and system) for one thread, wall time of the fixed
work for several: there waiting counts. `floor` rows are micro-benchmarks of
one pattern; they have a geometric mean of their own.
"""


class Work:
    """One row of the tables."""

    def __init__(self, name, program, mode="", time="cpu", extra=(),
                 kind="load"):
        self.name = name
        self.command = [program] + ([mode] if mode else [])
        self.time = time
        self.extra = extra
        self.kind = kind


# Names of reported values, and how the tables call them.
EXTRA = {
    "rss_over_live": "resident over live bytes",
    "trim_over_live": "the same after malloc_trim",
    "rss_after_free": "resident after all is freed, KiB",
    "kib_peak": "peak, KiB above the start",
    "kib_freed95": "95 % freed, KiB",
    "kib_trimmed95": "then malloc_trim, KiB",
    "kib_freed": "all freed, KiB",
    "kib_second_later": "a second of activity later, KiB",
    "kib_trimmed": "then malloc_trim, KiB",
    "kib_thread": "KiB a thread above a run without malloc",
    "rss_growth": "resident left by 9,000 threads, KiB",
}
RETURN = ("kib_peak", "kib_freed95", "kib_trimmed95", "kib_freed",
          "kib_second_later", "kib_trimmed")

WORKLOADS = (
    Work("larson", "w_larson", time="wall"),
    Work("xmalloc", "w_xmalloc", time="wall"),
    Work("cache-thrash", "w_scratch", "thrash", time="wall"),
    Work("cache-scratch", "w_scratch", "scratch", time="wall"),
    Work("mstress", "w_mstress", time="wall"),
    Work("lifetimes", "w_lifetimes", "alone"),
    Work("lifetimes-mt", "w_lifetimes", "shared", time="wall"),
    Work("churn-10k", "w_churn", "small"),
    Work("churn-50k", "w_churn", "large"),
    Work("threads-64", "w_threads", "cross", time="wall"),
    Work("threads-8", "w_threads", "mix", time="wall"),
    Work("threads-2000", "w_threads", "many", time="wall",
         extra=("kib_thread",)),
    Work("thread-churn", "w_thread_churn", time="wall",
         extra=("rss_growth",)),
    Work("realloc-one", "w_realloc", "one"),
    Work("realloc-vectors", "w_realloc", "vectors",
         extra=("rss_after_free",)),
    Work("realloc-strings", "w_realloc", "strings"),
    Work("big-random", "w_big", "random", extra=("rss_after_free",)),
    Work("big-few", "w_big", "few"),
    Work("drift", "w_drift",
         extra=("rss_over_live", "trim_over_live", "rss_after_free")),
    Work("return-256m", "w_return", "256m", extra=RETURN),
    Work("pair-lifo", "w_order", "lifo", kind="floor"),
    Work("pair-fifo", "w_order", "fifo", kind="floor"),
    Work("pair-reverse", "w_order", "reverse", kind="floor"),
    Work("pair-random", "w_order", "random", kind="floor"),
    Work("big-lifo", "w_big", "lifo", kind="floor"),
)
# Only when named by --only: takes minutes under some allocators.
LONG = (Work("return-1g", "w_return", "1g", extra=RETURN, kind="long"),)
