#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A second preload (heaptrack/profiler kind, wraps malloc with
# dlsym(RTLD_NEXT)) in both orders. class: R
. "$HZ_CASES/hz.sh"
w=$HZ_BIN/wrapper.so
for order in "$w${HZ_PRELOAD:+:$HZ_PRELOAD}" "${HZ_PRELOAD:+$HZ_PRELOAD:}$w"; do
	for p in workout 46-libc-internal-allocs 21-cxx-new-matrix; do
		under LD_PRELOAD="$order" "$HZ_BIN/$p" ||
			fail "order $order, $p: rc=$?"
	done
done
