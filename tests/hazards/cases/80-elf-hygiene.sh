#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The library itself: no text relocations, no executable stack, RELRO, static
# TLS small enough for a late dlopen (< 1 KiB). class: R
. "$HZ_CASES/hz.sh"
needs_lib
readelf -dW "$HZ_LIB" | grep -q TEXTREL && fail "TEXTREL"
readelf -lW "$HZ_LIB" | grep GNU_STACK | grep -q RWE && fail "exec stack"
t=$(readelf -lW "$HZ_LIB" | awk '$1 == "TLS" { print $6 }')
[ $((t)) -lt 1024 ] || fail "TLS segment of $((t)) bytes"
readelf -lW "$HZ_LIB" | grep -q GNU_RELRO || fail "no RELRO"
