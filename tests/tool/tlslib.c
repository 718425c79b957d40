/* SPDX-License-Identifier: MIT */
/*
 * tlslib.c - a library with TLS_BYTES of static thread-local storage, as some
 * allocators have; see run.sh.
 */
extern char *tlslib_address(void);

static __thread char block[TLS_BYTES]
	__attribute__((tls_model("initial-exec")));

char *tlslib_address(void)
{
	return block;
}
