/* SPDX-License-Identifier: MIT */
/* C23 free_sized/free_aligned_sized: if anything in the process provides them
 * they must accept our blocks (else n/a): half-implemented sets make glibc's
 * own version meet foreign pointers. class: P
 */
#include "hz.h"
int main(void)
{
	hz_limit(10);
	void (*fs)(void *, size_t) = dlsym(RTLD_DEFAULT, "free_sized");
	void (*fas)(void *, size_t, size_t) =
		dlsym(RTLD_DEFAULT, "free_aligned_sized");
	if (!fs && !fas) {
		SKIP("no free_sized in this process");
	}
	for (size_t n = 0; n < 200000; n = n * 3 / 2 + 1) {
		if (fs) {
			fs(malloc(n), n);
			fs(calloc(n, 1), n);
			fs(realloc(malloc(3), n + 1), n + 1);
			fs(NULL, n);
		}
		if (fas) {
			fas(aligned_alloc(64, n), 64, n);
			fas(aligned_alloc(4096, n), 4096, n);
			fas(NULL, 64, n);
		}
	}
	return 0;
}
