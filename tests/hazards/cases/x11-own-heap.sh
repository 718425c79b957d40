#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Driver of support/prog/x11-own-heap-prog.c: a plugin returns a block of its
# own static heap, and the host frees it. The pointer belongs to nobody, so the
# default may be to abort with a message; a policy that survives must exist
# (ALLOC_BAD_FREE=warn). Plain glibc aborts. class: B
. "$HZ_CASES/hz.sh"
needs_lib
o=$(under ALLOC_BAD_FREE=warn "$HZ_BIN/x11-own-heap-prog" 2>&1) ||
	fail "rc=$?: ${o##*$'\n'}"
