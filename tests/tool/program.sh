#!/bin/bash
# SPDX-License-Identifier: MIT
# The tool itself: help, version, wrong usage, completions, manual page.
. "$(dirname "$0")/check.sh"

run "$tool" --version
check "--version succeeds" status_is 0
check "--version prints a version" out_has '^allocmux [0-9]+\.[0-9]+\.[0-9]+$'

run "$tool" --help
check "--help succeeds" status_is 0
check "--help lists run" out_has '^  run '
commands=$(sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$work/out")

run "$tool"
check "no subcommand is wrong usage" status_is 2

run "$tool" nosuch
check "an unknown subcommand is wrong usage" status_is 2
check "an unknown subcommand is named" err_has nosuch

run "$tool" run --nosuch
check "an unknown option is named" err_has -- '--nosuch'

run "$tool" run --backend
check "a missing value is reported" err_has 'needs a value'

"$tool" --help >/dev/full 2>"$work/err"
status=$?
check "output that cannot be written is a failure" status_is 3

for command in $commands; do
	run "$tool" "$command" --help
	check "$command --help succeeds" status_is 0
	check "$command --help is at most 80 columns wide" \
		[ -z "$(awk 'length > 80' "$work/out")" ]
	options=$(grep -o -- ' --[a-z-]*' "$work/out" | sort -u)

	run "$tool" manual
	check "the manual page describes $command" \
		out_has "^\.Ss allocmux $command\$"
	for option in $options; do
		check "the manual page knows $command $option" \
			grep -qF -- "\\${option#-}" "$work/out"
	done
done

"$tool" completion bash >"$work/bash"
check "the bash completion parses" bash -n "$work/bash"
complete_words() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_allocmux
	echo "${COMPREPLY[*]}"
}
. "$work/bash"
complete_words allocmux ru >"$work/out"
check "bash completes subcommands" out_is run
complete_words allocmux run --ver >"$work/out"
check "bash completes options" out_is --verbose

if command -v zsh >/dev/null; then
	"$tool" completion zsh >"$work/zsh"
	check "the zsh completion parses" zsh -n "$work/zsh"
fi
run "$tool" completion fish
check "an unknown shell is wrong usage" status_is 2

if command -v groff >/dev/null; then
	"$tool" manual | groff -mdoc -Tutf8 -ww >"$work/out" 2>"$work/err"
	check "groff has no complaints about the manual page" err_lines 0
fi

finish
