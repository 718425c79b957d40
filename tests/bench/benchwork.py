# SPDX-License-Identifier: MIT
"""The workloads: which program in which mode, and what is compared.

Rows with `threads` are also compared by the wall time of their work: waiting
counts there. The kinds have geometric means of
their own: `load` is a pattern of use with all its memory, `floor` one bare
sequence of calls, `program` a program that nobody here wrote.
"""
import os

HERE = os.path.dirname(os.path.abspath(__file__))


class Work:
    """One row of the tables."""

    def __init__(self, name, program, mode="", threads=False, extra=(),
                 kind="load"):
        self.name = name
        self.command = [program] + ([mode] if mode else [])
        self.threads = threads
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
    Work("larson", "w_larson", threads=True),
    Work("xmalloc", "w_xmalloc", threads=True),
    Work("cache-thrash", "w_scratch", "thrash", threads=True),
    Work("cache-scratch", "w_scratch", "scratch", threads=True),
    Work("mstress", "w_mstress", threads=True),
    Work("lifetimes", "w_lifetimes", "alone"),
    Work("lifetimes-mt", "w_lifetimes", "shared", threads=True),
    Work("churn-10k", "w_churn", "small"),
    Work("churn-50k", "w_churn", "large"),
    Work("threads-64", "w_threads", "cross", threads=True),
    Work("threads-8", "w_threads", "mix", threads=True),
    Work("threads-2000", "w_threads", "many", threads=True,
         extra=("kib_thread",)),
    Work("thread-churn", "w_thread_churn", threads=True,
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
PYTHON = """
import json
for n in range(5):
    text = json.dumps([{'k': str(i), 'v': [i, 'x' * (i % 90)]}
                       for i in range(40000)])
    print(len(text), len(json.loads(text)))
"""
SQLITE = """
import sqlite3
db = sqlite3.connect(':memory:')
db.execute('create table t (k integer primary key, a text, b integer)')
db.executemany('insert into t values (?, ?, ?)',
               ((i, 'row %d' % (i * 7919 % 100003), i * 31 % 1009)
                for i in range(60000)))
db.execute('create index i on t (a)')
for n in range(4):
    print(db.execute('select count(*), sum(length(group_concat_a)) from '
                     '(select group_concat(a) as group_concat_a from t '
                     'group by b)').fetchall())
    print(db.execute('select a from t order by b, a limit 2').fetchall())
"""
PERL = """
my %h;
for my $i (1 .. 150000) {
    $h{"key" . ($i * 7919 % 100003)} .= "x" x ($i % 40);
    push @{$h{"list" . $i % 500}{v}}, "$i" if $i % 3 == 0;
}
my $n = 0;
$n += length ref $h{$_} ? scalar @{$h{$_}{v}} : $h{$_} for sort keys %h;
print scalar(keys %h), " $n\\n";
"""
GCC = ('for f in "$1"/w_[lmrt]*.c; do '
       'gcc -std=gnu11 -D_GNU_SOURCE -O2 -S -o - "$f" || exit; done')
SHELL = "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done; echo $i"


def program(name, command, env=None):
    """A row whose check is that every allocator gives the same output."""
    work = Work(name, "", kind="program")
    work.command = command
    work.env = env or {}
    return work


PROGRAMS = (
    program("python-json", ["/usr/bin/python3", "-c", PYTHON],
            {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}),
    program("sqlite", ["/usr/bin/python3", "-c", SQLITE],
            {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}),
    program("perl-hash", ["/usr/bin/perl", "-e", PERL],
            {"PERL_HASH_SEED": "0"}),
    program("gcc", ["/bin/sh", "-c", GCC, "sh", HERE]),
    program("sh-fork", ["/bin/sh", "-c", SHELL]),
)
# Only when named by --only: takes minutes under some allocators.
LONG = (Work("return-1g", "w_return", "1g", extra=RETURN, kind="long"),)
