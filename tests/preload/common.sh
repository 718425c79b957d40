# SPDX-License-Identifier: MIT
#
# common.sh - what the tests of real programs share; sourced by each, which is
# called as NAME.sh TOOL BACKEND...
#
# ALLOC_STRICT=1 is set for all: a backend that cannot be used ends the program.
# Not here: what any one program does.
set -u
export LC_ALL=C ALLOC_STRICT=1
unset LD_PRELOAD ALLOC_BACKEND ALLOC_VERBOSE
tool=$(realpath "$1")
shift
backends=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
ulimit -c 0

fail() { echo "FAILED: $*"; exit 1; }

# need PROGRAM...: skip the test if one is missing.
need() {
	local program
	for program in "$@"; do
		command -v "$program" >/dev/null ||
			{ echo "skipped: no $program"; exit 77; }
	done
}

# under BACKEND COMMAND...
under() {
	"$tool" run --backend "$1" -- "${@:2}"
}

# proves BACKEND FILE COMMAND...: in COMMAND or a child of it the module FILE (a
# regular expression for its base name) calls malloc in the shim, by the
# loader's own account, and the shim says that it runs BACKEND.
proves() {
	local backend=$1 file=$2
	shift 2
	rm -f bound.*
	# The tool is not watched: env sets the variables behind it.
	"$tool" run --backend "$backend" -- \
		env LD_DEBUG=bindings LD_DEBUG_OUTPUT="$work/bound" \
		ALLOC_VERBOSE=1 "$@" >proof.out 2>proof.err ||
		{ tail -n 3 proof.err; fail "$backend: status of $*"; }
	grep -qE "binding file ([^ ]*/)?$file .* to [^ ]*/liballocmux_shim\.so .*\`malloc'" \
		bound.* || fail "$backend: $file does not call the shim's malloc"
	grep -q "^allocmux: .*$backend" proof.err ||
		fail "$backend: the shim does not say that it runs it"
	rm -f bound.*
}

# same BACKEND EXPECTED ACTUAL: two files.
same() {
	cmp "$2" "$3" || fail "$1: $3 is not what it is without the shim"
}
