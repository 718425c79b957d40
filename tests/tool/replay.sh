#!/bin/bash
# SPDX-License-Identifier: MIT
# `allocmux replay`: a trace is recorded and played; what was live must be the
# same to the byte, and memory about that of the program.
. "$(dirname "$0")/check.sh"
unset ALLOCMUX_SHIM # the tool finds the shim of its build tree

# Four threads that hand blocks to each other, with every kind of call.
cat >"$work/program.c" <<'E'
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
enum { COUNT = 2000, THREADS = 4 };
static void *blocks[THREADS][COUNT];
static pthread_barrier_t barrier;
static void *play(void *arg)
{
	long self = (long)arg;
	for (int i = 0; i < COUNT; i++) {
		size_t size = 16 + (size_t)(i * 37 % 3000);
		void *p = i % 3 == 0 ? calloc(1, size)
			: i % 3 == 1 ? memalign(64, size) : malloc(size);
		if (i % 5 == 0) p = realloc(p, 2 * size);
		memset(p, 1, size);
		blocks[self][i] = p;
	}
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < COUNT; i++) free(blocks[(self + 1) % THREADS][i]);
	return NULL;
}
int main(void)
{
	pthread_t threads[THREADS];
	void *volatile large = malloc(8 << 20);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, play, (void *)i);
	for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
	free(large);
	return 0;
}
E
cc -O1 -pthread -o "$work/program" "$work/program.c"
ALLOC_TRACE=record ALLOC_TRACE_FILE=$work/t.trace \
	run "$tool" run -b system -- "$work/program"
check "the program is recorded" status_is 0
run "$tool" report --json "$work/t.trace"
peak=$(sed -n 's/.*"peak_bytes": *\([0-9]*\).*/\1/p' "$work/out" | head -1)

run "$tool" replay "$work/t.trace" -b dl,percpu -n 2 --csv="$work/csv"
check "options may follow the trace" status_is 0
for backend in system dl percpu; do
	figure=$(awk -F, -v b=$backend '$2 == b && $3 == "peak_live" {print $7}' "$work/csv")
	check "what is live under $backend is exact" [ "$figure" = "$peak" ]
	figure=$(awk -F, -v b=$backend '$2 == b && $3 == "peak" {print int($7)}' "$work/csv")
	check "memory under $backend holds what is live" \
		[ "$figure" -ge $((peak / 1024)) ]
	check "memory under $backend is not much more" \
		[ "$figure" -le $((peak * 2 / 1024)) ]
done

run "$tool" replay "$work/t.trace" -b dl -n 1 --touch none --csv="$work/none"
touched() { awk -F, '$2 == "dl" && $3 == "peak" {print int($7)}' "$1"; }
check "what is not touched is not there" \
	[ $(($(touched "$work/none") + 4000)) -lt "$(touched "$work/csv")" ]
run "$tool" replay "$work/t.trace" -b dl -n 1 --touch all --json
check "memory over time is kept" out_has rss_over_time

check "nothing is left behind" \
	[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'allocmux-calls-*' -newer "$work/program" 2>/dev/null)" ]
run "$tool" replay "$work/program.c"
check "a file that is no trace is refused" status_is 3
run "$tool" replay
check "no trace is wrong usage" status_is 2
run "$tool" replay "$work/t.trace" --touch some
check "an unknown touch is wrong usage" status_is 2

finish
