#!/bin/bash
# SPDX-License-Identifier: MIT
#
# git.sh - git clones a local repository under every backend: the objects are
# whole and the head is the same.
. "$(dirname "$0")/common.sh"
need git
export HOME=$work GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
git init -q source
for ((i = 0; i < 200; i++)); do
	seq $((i * 31)) $((i * 37 + 50)) >source/file$i
done
git -C source add . && git -C source commit -q -m one || fail "no repository"
seq 5000 >source/file0
git -C source commit -q -a -m two || fail "no repository"
git -C source rev-parse HEAD >expected
for backend in "${backends[@]}"; do
	proves "$backend" git git -C source rev-parse HEAD
	# file://: the pack goes through upload-pack and index-pack.
	rm -rf clone
	under "$backend" git clone -q "file://$work/source" clone ||
		fail "$backend: status $?"
	git -C clone fsck --strict >fsck 2>&1 || { cat fsck; fail "$backend: fsck"; }
	git -C clone rev-parse HEAD >actual
	same "$backend" expected actual
	[ -z "$(git -C clone status --porcelain)" ] ||
		fail "$backend: the work tree differs"
done
