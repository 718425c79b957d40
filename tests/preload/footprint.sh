#!/bin/bash
# SPDX-License-Identifier: MIT
#
# footprint.sh - the shim leaves no trace in a trivial program: no descriptor
# open, no thread, no signal handler, no output.
. "$(dirname "$0")/common.sh"
need strace
strace -o probe true || { echo "skipped: no ptrace here"; exit 77; }
# The shell is the program: it says itself what it has.
look='cd /proc/self/fd && echo *; cd /proc/$$/task && echo * | wc -w'
sh -c "$look" >expected || fail "without the shim"
for backend in "${backends[@]}"; do
	proves "$backend" 'libc\.so\.6' sh -c :
	under "$backend" sh -c "$look" >actual 2>err || fail "$backend: status $?"
	same "$backend" expected actual
	[ ! -s err ] || { cat err; fail "$backend: output"; }
	under "$backend" strace -f -o calls -e \
		trace=clone,clone3,fork,vfork,rt_sigaction,signalfd4,timer_create \
		true || fail "$backend: status $?"
	! grep -E '^[0-9]+ +[a-z0-9_]+\(' calls ||
		fail "$backend: these system calls"
done
