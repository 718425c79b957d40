#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Route: ctypes/cffi call malloc, free and strdup on the libc.so.6 handle and on
# the global scope, in every mixture. class: P
. "$HZ_CASES/hz.sh"
needs python3
under python3 -c '
import ctypes
from ctypes import c_char_p, c_size_t, c_void_p
libc = ctypes.CDLL("libc.so.6")
everything = ctypes.CDLL(None)
for lib in libc, everything:
    for name, result, args in (
            ("malloc", c_void_p, [c_size_t]),
            ("calloc", c_void_p, [c_size_t, c_size_t]),
            ("realloc", c_void_p, [c_void_p, c_size_t]),
            ("strdup", c_void_p, [c_char_p]),
            ("free", None, [c_void_p])):
        f = getattr(lib, name)
        f.restype, f.argtypes = result, args
for give in libc, everything:
    for take in libc, everything:
        for n in range(1, 40000, 777):
            take.free(give.malloc(n))
            take.free(give.calloc(n, 3))
            take.free(take.realloc(give.malloc(n), 2 * n))
            p = give.strdup(b"a" * n)
            assert ctypes.string_at(p) == b"a" * n
            p = take.realloc(p, 3 * n)
            assert ctypes.string_at(p) == b"a" * n
            give.free(p)
' || fail "rc=$?"
