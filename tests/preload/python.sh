#!/bin/bash
# SPDX-License-Identifier: MIT
#
# python.sh - python3 makes the same JSON text under every backend, every object
# from malloc.
. "$(dirname "$0")/common.sh"
python=/usr/bin/python3
need $python
program='import json; print(len(json.dumps(list(range(10**6)))))'
$python -c "$program" >expected || fail "without the shim"
for backend in "${backends[@]}"; do
	proves "$backend" 'python3[.0-9]*' $python -c pass
	under "$backend" env PYTHONMALLOC=malloc $python -c "$program" >actual ||
		fail "$backend: status $?"
	same "$backend" expected actual
done
