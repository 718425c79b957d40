/* SPDX-License-Identifier: MIT */
/*
 * interpose_dl.h - between the entry points in interpose_dl.S and C.
 */
#ifndef AMUX_INTERPOSE_DL_H
#define AMUX_INTERPOSE_DL_H

/*
 * What dlsym(handle, name) must answer instead of the loader's answer, or NULL
 * if the loader is to be asked. Starts the library if need be.
 */
void *interpose_dlsym(void *handle, const char *name);

/* The real functions after the library has been started. */
void *interpose_real_dlopen(void);
void *interpose_real_dlsym(void);
void *interpose_real_dlvsym(void);

#endif
