/* SPDX-License-Identifier: MIT */
/* reallocarray: wrapped product -> NULL + ENOMEM, old block untouched and still
 * owned by the caller. class: G */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	char *p = reallocarray(NULL, hz_n(10), hz_n(10));
	CHECK(p);
	memset(p, 'k', 100);
	errno = 0;
	CHECK(reallocarray(hz_hide(p), hz_n(SIZE_MAX / 4), hz_n(8)) == NULL);
	CHECK(errno == ENOMEM);
	for (int i = 0; i < 100; i++) {
		CHECK(p[i] == 'k');
	}
	p = reallocarray(hz_hide(p), hz_n(1000), hz_n(100));
	CHECK(p);
	for (int i = 0; i < 100; i++) {
		CHECK(p[i] == 'k');
	}
	free(p);
	return 0;
}
