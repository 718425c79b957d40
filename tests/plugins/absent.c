/* SPDX-License-Identifier: MIT */
/* absent.c - linked with missing_dependency.c, then kept out of its reach. */
int absent_function(void);
int absent_function(void)
{
	return 0;
}
