#!/bin/bash
# SPDX-License-Identifier: MIT
#
# glibc's rseq registration switched off (tunable; also old kernels, gVisor,
# qemu-user): per-CPU paths need a fallback. class: R
. "$HZ_CASES/hz.sh"
t=$(tunables glibc.pthread.rseq=0)
under "$t" "$HZ_BIN/workout" || fail "rc=$?"
under "$t" "$HZ_BIN/60-cpu-migration" || fail "migration: rc=$?"
