/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>
#include <string.h>
/* auditor in its own namespace with its own libc: it allocates on every
 * callback */
static void *keep;
unsigned la_version(unsigned v)
{
	free(keep);
	keep = malloc(100);
	return v;
}
unsigned la_objopen(struct link_map *m, Lmid_t l, uintptr_t *c)
{
	(void)l;
	(void)c;
	char *s = strdup(m->l_name ? m->l_name : "");
	free(keep);
	keep = s;
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
void la_preinit(uintptr_t *c)
{
	(void)c;
	free(malloc(5000));
}
