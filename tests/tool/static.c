/* SPDX-License-Identifier: MIT */
/* static.c - a statically linked program; see run.sh. */
int main(void)
{
	return 0;
}
