/* SPDX-License-Identifier: MIT */
/*
 * marker.h - what pair.c and stepper.c agree on.
 *
 * The traced program calls prctl(MARKER_BEGIN, name, &phase, rseq), which the
 * kernel refuses and the stepper sees. It counts instructions from then until
 * the byte `phase` is no longer 0. `rseq` is the address of the thread's
 * struct rseq, or 0.
 */
#ifndef AMUX_TESTS_BENCH_MARKER_H
#define AMUX_TESTS_BENCH_MARKER_H

#define MARKER_BEGIN 0x616d7578

#endif
