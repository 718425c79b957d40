#!/bin/bash
# SPDX-License-Identifier: MIT
#
# elf.sh - the shim as an object file: what every process that it is loaded into
# has to pay and to trust.
#
#   elf.sh SHIM EXPORTS
#
# EXPORTS lists the exported symbols, one a line, in the order of sort(1).
set -u
shim=$1 exports=$2
status=0
fail() { echo "$*"; status=1; }

# Static TLS comes out of 1,664 bytes that all late libraries share.
tls=$(readelf -lW "$shim" | awk '$1 == "TLS" { print $6 }')
[ $((tls)) -le 64 ] || fail "the TLS segment has $((tls)) bytes; 64 may be"

readelf -dW "$shim" | grep -q TEXTREL && fail "text relocations"
readelf -lW "$shim" | grep -q GNU_RELRO || fail "no RELRO"
readelf -dW "$shim" | grep -q BIND_NOW || fail "lazy binding: no full RELRO"
readelf -dW "$shim" | grep -q NODELETE || fail "can be unloaded"
readelf -lW "$shim" | grep GNU_STACK | grep -q E && fail "executable stack"
readelf -dW "$shim" | grep -q 'SYMBOLIC' && fail "bound to itself"
readelf -SW "$shim" | grep -q '\.init_array' &&
	readelf -rW "$shim" | grep -q IRELATIV && fail "IFUNC relocations"

needed=$(readelf -dW "$shim" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | tr '\n' ' ')
[ "$needed" = 'libc.so.6 ' ] || fail "needs $needed, not libc alone"

case $(uname -m) in
x86_64) note='x86 feature:.*IBT.*SHSTK' ;;
aarch64) note='AArch64 feature:.*BTI' ;;
*) note=. ;;
esac
readelf -nW "$shim" 2>/dev/null | grep -q "$note" || fail "no note: $note"

# The family unversioned: in a version node it would interpose nothing.
actual=$(nm -D --defined-only "$shim" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort)
diff <(grep -v '^#' "$exports") <(echo "$actual") ||
	fail "exported symbols differ from $exports (> is what is there)"
exit $status
