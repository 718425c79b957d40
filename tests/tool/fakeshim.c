/* SPDX-License-Identifier: MIT */
/* fakeshim.c - a library to preload that does nothing; see run.sh. */
extern int fakeshim_loaded;
int fakeshim_loaded = 1;
