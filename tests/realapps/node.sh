#!/bin/bash
# SPDX-License-Identifier: MIT
#
# node.sh - node: own JS program (Map/JSON/Buffer/zlib/crypto, two worker threads)
# packages: nodejs
. "$(dirname "$0")/common.sh"; needref
meas -- node "$RA/nodeapp.js" "$(sc 1500)" >"$W/out" 2>>"$LOG" || bad "exit $M_exit"
acc; refcheck out "$W/out"; chklog "$LOG"; refdone; finish
