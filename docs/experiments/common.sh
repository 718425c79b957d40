# SPDX-License-Identifier: MIT
# common.sh - for the experiments; source it.
#
# Each experiment is one command: NAME.sh [OPTION]..., where the options are
# those of `allocmux compare` and come after the experiment's own (so
# `--runs 3 --backends system,dl` makes it shorter). It needs Debian packages
# and nothing else; servers listen on loopback and keep their data in
# $EXPERIMENTS_DIR (default /var/tmp/allocmux-experiments), which is made once.
# Results are NAME.json, NAME.md, NAME.html and NAME.svg in the current folder.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=$(basename "$0" .sh)
allocmux=${ALLOCMUX:-allocmux}
data=${EXPERIMENTS_DIR:-/var/tmp/allocmux-experiments}
mkdir -p "$data"
chmod 755 "$data"

# need PROGRAM PACKAGE...: end with what to install if PROGRAM is missing.
need() {
	if ! command -v "$1" >/dev/null; then
		echo "$name: $1 is missing; apt-get install ${*:2}" >&2
		exit 3
	fi
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || {
			echo "$name: gave up waiting for: $*" >&2
			exit 3
		}
		sleep 0.1
	done
}

need "$allocmux" "allocmux (or set ALLOCMUX to its path)"
need gnuplot gnuplot-nox

# compare OPTION...: under all backends, with all forms of output.
compare() {
	exec "$allocmux" compare --runs 5 --warmup 0 --timeout 120 \
		--json="$name.json" --markdown="$name.md" --html="$name.html" \
		--plot "$name.svg" "$@"
}
