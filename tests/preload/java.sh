#!/bin/bash
# SPDX-License-Identifier: MIT
#
# java.sh - a Java program prints the same under every backend: direct buffers,
# deflate, threads.
. "$(dirname "$0")/common.sh"
need java javac
cat >Program.java <<'END'
import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

public class Program {
	static long work(int seed)
	{
		CRC32 crc = new CRC32();
		byte[] out = new byte[20000];
		for (int i = 1; i < 200; i++) {
			ByteBuffer buffer = ByteBuffer.allocateDirect(i * 50);
			for (int k = 0; k < i * 50; k++)
				buffer.put((byte) (k * seed));
			byte[] text = new byte[i * 50];
			buffer.flip();
			buffer.get(text);
			Deflater deflater = new Deflater();
			deflater.setInput(text);
			deflater.finish();
			crc.update(out, 0, deflater.deflate(out));
			deflater.end();
		}
		return crc.getValue();
	}

	public static void main(String[] arguments) throws Exception
	{
		long[] sums = new long[4];
		Thread[] threads = new Thread[4];
		for (int i = 0; i < 4; i++) {
			int own = i;
			threads[i] = new Thread(() -> sums[own] = work(own + 3));
			threads[i].start();
		}
		for (Thread thread : threads)
			thread.join();
		System.out.println(java.util.Arrays.toString(sums));
	}
}
END
javac Program.java || fail "javac without the shim"
flags=(-Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1)
java "${flags[@]}" Program >expected || fail "without the shim"
for backend in "${backends[@]}"; do
	proves "$backend" 'libjvm\.so' java "${flags[@]}" -version
	under "$backend" java "${flags[@]}" Program >actual ||
		fail "$backend: status $?"
	same "$backend" expected actual
done
