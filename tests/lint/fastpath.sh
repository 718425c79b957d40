#!/bin/bash
# SPDX-License-Identifier: MIT
#
# fastpath.sh - the price of the shim on the steady path, in instructions.
#
#   fastpath.sh SHIM
#
# malloc and free load a pointer and jump: one instruction, and the landing pad
# of control-flow protection before it. No branch, no call, no TLS.
set -u
shim=$1
status=0
case $(uname -m) in
x86_64) want='endbr64 jmp' ;;
aarch64) want='bti adrp ldr br' ;;
*) exit 77 ;;
esac
for name in malloc free; do
	got=$(objdump -d --no-show-raw-insn "$shim" | awk -v f="<$name>:" '
		$2 == f { inside = 1; next }
		inside && NF == 0 { exit }
		inside && $2 !~ /^nop|^xchg|^data/ { print $2 }' | tr '\n' ' ')
	if [ "$got" != "$want " ]; then
		echo "$name is '$got', not '$want'"
		status=1
	fi
done
exit $status
