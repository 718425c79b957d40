#!/bin/bash
# SPDX-License-Identifier: MIT
#
# valgrind.sh - memcheck finds no error and no leak in a trivial program, and no
# descriptor that it did not inherit: with its own malloc in place of the
# shim's, and with the shim's.
. "$(dirname "$0")/common.sh"
need valgrind
check=(valgrind --error-exitcode=99 --leak-check=full --show-leak-kinds=all
	--errors-for-leak-kinds=all --track-fds=yes --log-file="$work/log")
"${check[@]}" true ||
	{ echo "skipped: memcheck complains without the shim"; exit 77; }
grep 'FILE DESCRIPTORS' log | sed 's/^==[0-9]*==//' >expected
for backend in "${backends[@]}"; do
	for whose in 'somalloc=*' somalloc=nouserintercepts; do
		under "$backend" "${check[@]}" --soname-synonyms="$whose" true ||
			{ cat log; fail "$backend, $whose: status $?"; }
		grep 'FILE DESCRIPTORS' log | sed 's/^==[0-9]*==//' >actual
		same "$backend" expected actual
	done
done
