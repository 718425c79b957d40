/* SPDX-License-Identifier: MIT */
/* Route: a plugin with a static allocator of its own, bound to itself, hands
 * out a block that the host frees. The plugin's memory must stay as it is, and
 * the host must live. class: B */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	void *h = hz_open("ownheap.so", RTLD_NOW | RTLD_LOCAL);
	HZ_FN(h, char *, oh_dup, const char *);
	for (int i = 0; i < 100; i++) {
		char *p = oh_dup("text");
		CHECK(p);
		free(hz_hide(p));
		CHECK(!strcmp(p, "text"));
		free(malloc(100));
	}
	return 0;
}
