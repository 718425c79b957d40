/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* a plugin that only talks to libc; how its malloc binds is decided by how it
 * is loaded */
void *pl_malloc(size_t n)
{
	return malloc(n);
}
void *pl_calloc(size_t n)
{
	return calloc(1, n);
}
void *pl_memalign(size_t a, size_t n)
{
	void *p = 0;
	return posix_memalign(&p, a, n) ? 0 : p;
}
void pl_free(void *p)
{
	free(p);
}
void *pl_realloc(void *p, size_t n)
{
	return realloc(p, n);
}
size_t pl_usable(void *p)
{
	return malloc_usable_size(p);
}
char *pl_strdup(const char *s)
{
	return strdup(s);
}
/* libc allocates (through the global scope), the plugin frees (through its own
 * binding) */
int pl_libc_then_free(void)
{
	char *s;
	if (asprintf(&s, "%0*d", 300, 1) < 0) {
		return 1;
	}
	free(s);
	s = strdup("hello");
	s = realloc(s, 4000);
	s[3999] = 0;
	free(s);
	char *b = 0;
	size_t z = 0;
	FILE *m = open_memstream(&b, &z);
	fputs("some text", m);
	fclose(m);
	free(b);
	struct dirent **l;
	int n = scandir("/", &l, 0, 0);
	while (n > 0) {
		free(l[--n]);
	}
	free(l);
	s = realpath("/tmp", 0);
	free(s);
	return 0;
}
/* the plugin allocates, libc grows it (getline reallocs through the global
 * scope), the plugin frees
 */
int pl_getline(const char *path)
{
	FILE *f = fopen(path, "r");
	if (!f) {
		return 1;
	}
	size_t cap = 8;
	char *ln = malloc(cap);
	int n = 0;
	while (getline(&ln, &cap, f) > 0) {
		n++;
	}
	free(ln);
	fclose(f);
	return n < 3;
}
