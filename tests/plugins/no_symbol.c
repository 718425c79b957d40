/* SPDX-License-Identifier: MIT */
/* no_symbol.c - a library that is neither a plugin nor an allocator. */
int no_symbol(void);
int no_symbol(void)
{
	return 0;
}
