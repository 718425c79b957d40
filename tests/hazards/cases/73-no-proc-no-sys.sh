#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Start with empty /proc and /sys (containers, chroots, early boot): CPU counts,
# NUMA, THP and overcommit probes must have defaults. class: R
. "$HZ_CASES/hz.sh"
unshare -m true 2>/dev/null || skip "no mount namespaces"
unshare -m sh -c 'mount -t tmpfs none /proc && mount -t tmpfs none /sys &&
	exec "$@"' sh env "${HZ_ENV[@]}" "$HZ_BIN/workout" || fail "rc=$?"
