/* SPDX-License-Identifier: MIT */
__thread int hz_a;
__thread char hz_b[200];
int *hz_addr(void)
{
	hz_b[3]++;
	return &hz_a;
}
