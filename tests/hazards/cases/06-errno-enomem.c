/* SPDX-License-Identifier: MIT */
/* POSIX: a failing malloc/calloc/realloc/aligned_alloc sets errno=ENOMEM. Many
 * libraries only look at errno. class: P */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	size_t n = hz_n((size_t)1 << 62);
	void *p, *q = (void *)0x5a;
	errno = 0;
	CHECK(!malloc(n));
	CHECK(errno == ENOMEM);
	errno = 0;
	CHECK(!calloc(n, 1));
	CHECK(errno == ENOMEM);
	errno = 0;
	CHECK(!realloc(hz_hide(NULL), n));
	CHECK(errno == ENOMEM);
	p = malloc(10);
	errno = 0;
	CHECK(!realloc(hz_hide(p), n));
	CHECK(errno == ENOMEM);
	errno = 0;
	CHECK(!aligned_alloc(64, n));
	CHECK(errno == ENOMEM);
	errno = 0;
	CHECK(!memalign(64, n));
	CHECK(errno == ENOMEM);
	errno = 0;
	CHECK(!valloc(n));
	CHECK(errno == ENOMEM);
	CHECK(posix_memalign(&q, 64, n) == ENOMEM);
	CHECK(q == (void *)0x5a);
	free(p);
	return 0;
}
