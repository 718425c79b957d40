#!/bin/bash
# SPDX-License-Identifier: MIT
#
# perl.sh - own allocation-heavy perl program; output must equal that without preload
# packages: perl
. "$(dirname "$0")/common.sh"; needref
meas -- perl "$RA/perlw.pl" "$(sc 900)" >"$W/out" 2>>"$LOG" || bad "exit $M_exit"
acc; refcheck out "$W/out"; chklog "$LOG"; refdone; finish
