# SPDX-License-Identifier: MIT
#
# hz.sh - sourced by the .sh cases.
#
# The runner sets HZ_LIB (the library under test, or empty), HZ_PRELOAD (what is
# preloaded for it), HZ_BIN (where the programs are) and HZ_CASES. What selects
# the library travels along where a case clears the environment. Exit statuses
# are those of hz.h.
HZ_ENV=()
[ -z "$HZ_PRELOAD" ] || HZ_ENV+=("LD_PRELOAD=$HZ_PRELOAD")
[ -z "${ALLOC_BACKEND-}" ] || HZ_ENV+=("ALLOC_BACKEND=$ALLOC_BACKEND")
[ -z "${GLIBC_TUNABLES-}" ] || HZ_ENV+=("GLIBC_TUNABLES=$GLIBC_TUNABLES")

# tunables LIST: the assignment that adds LIST to what is set already.
tunables() { echo "GLIBC_TUNABLES=${GLIBC_TUNABLES:+$GLIBC_TUNABLES:}$1"; }

# under CMD...: with the library under test preloaded.
under() { env "${HZ_ENV[@]}" "$@"; }
# under_clean CMD...: the same in an otherwise empty environment.
under_clean() { env -i "${HZ_ENV[@]}" "$@"; }
skip() { echo "skip: $*" >&2; exit 77; }
fail() { echo "$*" >&2; exit 1; }
# needs PROGRAM...: built variants and tools without which the case is void.
needs() {
	local p
	for p; do
		[ -s "$HZ_BIN/$p" ] || command -v "$p" >/dev/null || skip "no $p"
	done
}
# needs_lib: the case is about a library; it is void for plain libc.
needs_lib() { [ -n "$HZ_LIB" ] || skip "no library under test"; }
