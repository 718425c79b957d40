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

/*
 * The function that dlopen(file, flags), called from `caller`, must jump to.
 */
void *interpose_dlopen(const char *file, int flags, const void *caller);

/* The real functions; NULL without a loader. */
void *interpose_real_dlsym(void);
void *interpose_real_dlvsym(void);

#endif
