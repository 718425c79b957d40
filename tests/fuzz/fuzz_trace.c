/* SPDX-License-Identifier: MIT */
/*
 * fuzz_trace.c - any bytes as a trace file: the reader must neither crash nor
 * hang. The first half of what it can do wrong is in decoding, the second in
 * what the account makes of the result, so both run.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "traceload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	char path[64];
	struct trace trace;

	if (fd < 0) {
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size &&
		trace_load(&trace, path)) {
		trace_unload(&trace);
	}
	close(fd);
	return 0;
}
