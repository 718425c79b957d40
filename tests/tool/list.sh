#!/bin/bash
# SPDX-License-Identifier: MIT
# `allocmux list` and `allocmux options`.
. "$(dirname "$0")/check.sh"

run "$tool" list
check "list succeeds" status_is 0
check "libc's malloc is a backend" out_has '^system +built-in'
check "our own are backends" out_has '^dl +built-in'

run "$tool" list --names
check "--names lists names alone" out_has '^system$'

run "$tool" list --json
check "--json lists objects" out_has '"name": ?"system"'

ALLOC_BACKEND=nosuch ALLOC_STRICT=1 run "$tool" list
check "what programs are told to use does not matter" status_is 0
check "and is not tried" err_lines 0

mkdir "$work/plugins" && cp "$ALLOCMUX_SHIM" "$work/plugins/extra.so"
ALLOC_PLUGIN_PATH=$work/plugins run "$tool" list
check "plugins are found where the shim finds them" out_has '^extra +plugin'

run "$tool" list extra
check "arguments are refused" status_is 2

run "$tool" options
check "options succeeds" status_is 0
check "each option has its values" out_has '^ALLOC_STRICT=0\|1  default: 0$'
ALLOC_STRICT=1 run "$tool" options
check "what is set is shown" out_has '^    set to: 1$'
run "$tool" options --json
check "options --json lists objects" out_has '"variable": ?"ALLOC_BACKEND"'
run "$tool" manual
check "the manual page has the options" out_has '^.It Ev ALLOC_STRICT'

finish
