/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
	for (int i = 0; i < 2000; i++) {
		char *p = malloc(i + 1);
		memset(p, 1, i + 1);
		free(p);
	}
	char *s = strdup("ok");
	puts(s);
	free(s);
	return 0;
}
