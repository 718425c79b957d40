#!/bin/bash
# SPDX-License-Identifier: MIT
#
# gcc.sh - g++ on generated template/STL translation units; the objects must be bit-identical to those made without preload
# packages: g++ python3
. "$(dirname "$0")/common.sh"; needref
CXX=${CXX:-g++}; N=$(sc 1); cd "$W"; python3 "$RA/gencxx.py" "$W" "$N"
for ((i=0;i<N;i++)); do
  meas -- $CXX -std=c++17 -O$((i%2)) -g1 -fno-ident -frandom-seed=1 -fdebug-prefix-map="$W"=. -c u$i.cc -o u$i.o 2>>"$LOG" >>"$LOG" || bad "compile u$i exit $M_exit"
  acc; refcheck u$i.o u$i.o
done; RSSEND=$RSS; chklog "$LOG"; refdone; finish
