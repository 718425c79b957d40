#!/bin/bash
# SPDX-License-Identifier: MIT
#
# LD_PRELOAD is inherited by a child with another libc (musl). A library that
# needs glibc-only symbols makes the child die at start. class: R
. "$HZ_CASES/hz.sh"
needs child-musl
o=$(under "$HZ_BIN/child-musl" 2>&1) || fail "rc=$?: ${o%%$'\n'*}"
