#!/bin/bash
# SPDX-License-Identifier: MIT
#
# node.sh - node prints the same under every backend: buffers, zlib, a worker
# thread that comes and goes.
. "$(dirname "$0")/common.sh"
need node
cat >program.js <<'END'
const { Worker, isMainThread, parentPort } = require('worker_threads');
const zlib = require('zlib');
const crypto = require('crypto');

function digest(seed)
{
	const hash = crypto.createHash('sha256');
	for (let i = 0; i < 200; i++) {
		const text = JSON.stringify({ seed, list: Array(i * 20).fill(i) });
		const packed = zlib.deflateSync(Buffer.from(text));
		hash.update(zlib.inflateSync(packed));
	}
	return hash.digest('hex');
}

if (isMainThread) {
	new Worker(__filename).on('message', (theirs) => {
		console.log(digest(1), theirs);
	});
} else {
	parentPort.postMessage(digest(2));
}
END
node program.js >expected || fail "without the shim"
for backend in "${backends[@]}"; do
	proves "$backend" '(node|libnode\.so[.0-9]*)' node -e 0
	under "$backend" node program.js >actual || fail "$backend: status $?"
	same "$backend" expected actual
done
