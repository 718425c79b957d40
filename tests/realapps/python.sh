#!/bin/bash
# SPDX-License-Identifier: MIT
#
# python.sh - our allocation-heavy Python program, PYTHONMALLOC=malloc (every object goes to malloc)
# packages: python3.11
. "$(dirname "$0")/common.sh"; needref
PENV+=(PYTHONMALLOC=malloc PYTHONHASHSEED=0)
meas -- /usr/bin/python3.11 "$RA/pyalloc.py" "$(sc 10)" >"$W/out" 2>>"$LOG" || bad "exit $M_exit"
acc; refcheck out "$W/out"; chklog "$LOG"; refdone; finish
