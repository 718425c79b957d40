#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Address-space layouts: without randomisation, the legacy (bottom-up) layout,
# and an unlimited stack, which selects the legacy layout too. Address hints
# collide there. class: R
. "$HZ_CASES/hz.sh"
setarch -R true 2>/dev/null || skip "personality is refused"
under setarch -R "$HZ_BIN/workout" || fail "setarch -R: rc=$?"
under setarch -L "$HZ_BIN/workout" || fail "setarch -L: rc=$?"
under setarch -R -L "$HZ_BIN/workout" || fail "setarch -R -L: rc=$?"
ulimit -s unlimited 2>/dev/null || skip "the stack limit cannot be raised"
under "$HZ_BIN/workout" || fail "ulimit -s unlimited: rc=$?"
