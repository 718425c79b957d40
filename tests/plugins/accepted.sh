#!/bin/bash
# SPDX-License-Identifier: MIT
#
# accepted.sh - a plugin loads by path and by name, silently, and serves.
#
#   accepted.sh USE SHIM PLUGIN
set -u
use=$1 shim=$2 plugin=$3
name=$(basename "$plugin" .so) folder=$(dirname "$plugin")
fail() { echo "$*"; exit 1; }

for backend in "$plugin" "$name"; do
	out=$(LD_PRELOAD=$shim ALLOC_BACKEND=$backend ALLOC_STRICT=1 \
		ALLOC_PLUGIN_PATH=/nowhere:$folder "$use" 2>&1) ||
		fail "$backend: status $?: $out"
	[ "$out" = "$backend" ] || fail "$backend: printed $out"
done
out=$(LD_PRELOAD=$shim ALLOC_BACKEND=$name ALLOC_VERBOSE=1 \
	ALLOC_PLUGIN_PATH=$folder "$use" 2>&1)
[[ $out == *"backend $name ($plugin), chosen by ALLOC_BACKEND"* ]] ||
	fail "the line at start does not name the plugin: $out"
