/* SPDX-License-Identifier: MIT */
/*
 * allocmux/trace.h - constants and structures of the trace file, version 1.
 *
 * docs/trace-format.md says what they mean and how to decode them; the two
 * change together. Everything is little-endian and has its natural alignment.
 * Fields marked "live" change while the traced process runs and are read with
 * one aligned load.
 */
#ifndef ALLOCMUX_TRACE_H
#define ALLOCMUX_TRACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A reader refuses another major version and accepts any minor one. */
#define AMUX_TRACE_VERSION_MAJOR 1u
#define AMUX_TRACE_VERSION_MINOR 0u

/* The first eight bytes of a file and of every repeated file header. */
#define AMUX_TRACE_MAGIC "AMUXTRC"

/* The first four bytes of every other block: "AMXB". */
#define AMUX_TRACE_BLOCK_MAGIC 0x42584d41u

/* Block sizes a reader must accept: a power of two between these, bytes. */
#define AMUX_TRACE_BLOCK_MIN 4096u
#define AMUX_TRACE_BLOCK_MAX 1048576u

enum amux_trace_mode {
	AMUX_TRACE_RECORD = 1,  /* every event */
	AMUX_TRACE_PROFILE = 2, /* counters per call site */
	AMUX_TRACE_SAMPLE = 3   /* events of sampled blocks */
};

enum amux_trace_state {
	AMUX_TRACE_RUNNING = 0,  /* or killed, or replaced by exec */
	AMUX_TRACE_FINISHED = 1, /* the process exited */
	AMUX_TRACE_STOPPED = 2,  /* by request, duration or API */
	AMUX_TRACE_LIMIT = 3,    /* the size limit was reached */
	AMUX_TRACE_ERROR = 4     /* the file could not grow; see error */
};

/* Bits of amux_trace_file.features. */
#define AMUX_TRACE_F_USABLE ((uint64_t)1 << 0) /* excess is known */
#define AMUX_TRACE_F_STARTUP                                                   \
	((uint64_t)1 << 1)                     /* from the first allocation    \
						*/
#define AMUX_TRACE_F_RING   ((uint64_t)1 << 2) /* old event blocks are lost */
#define AMUX_TRACE_F_FORKED ((uint64_t)1 << 3) /* child of a traced parent */

/* Entries of amux_trace_file.returned. */
#define AMUX_TRACE_RETURNED 256u

/* Block 0 of a file. */
struct amux_trace_file {
	char magic[8];        /* AMUX_TRACE_MAGIC with its NUL */
	uint16_t major;       /* AMUX_TRACE_VERSION_MAJOR */
	uint16_t minor;       /* AMUX_TRACE_VERSION_MINOR */
	uint32_t header_size; /* bytes of this struct that are filled */
	uint32_t block_size;  /* bytes of every block, this one too */
	uint32_t mode;        /* enum amux_trace_mode */
	uint32_t machine;     /* ELF e_machine: 62 x86-64, 183 aarch64 */
	uint32_t page_size;   /* bytes */
	uint32_t pid;
	uint32_t ppid;
	uint32_t image;     /* how often this pid has executed, from 0 */
	uint32_t site_size; /* bytes of a site in SITES blocks */
	uint64_t features;  /* AMUX_TRACE_F_* */
	uint64_t real_ns;   /* CLOCK_REALTIME at time 0 */
	uint64_t mono_ns;   /* CLOCK_MONOTONIC at time 0 */
	uint64_t tick_ns;   /* how late a TIME record may be */
	uint64_t interval;  /* mean bytes between samples; 0 if not sampling */
	uint64_t reserved[4];

	uint32_t state;  /* live: enum amux_trace_state */
	uint32_t error;  /* live: errno that stopped the trace, or 0 */
	uint64_t blocks; /* live: blocks handed out so far, with this one */
	uint64_t end_ns; /* live: time of the end; 0 while running */
	uint64_t lost_events; /* live: events that found no room */
	uint64_t lost_bytes;  /* live: bytes of lost allocations */
	uint64_t total_live;  /* live, PROFILE: live bytes, requested */
	uint64_t total_peak;  /* live, PROFILE: greatest total_live */
	uint64_t peak_ns;     /* live, PROFILE: time of total_peak */

	/* Between the writer and one consumer: see "Consumers". */
	uint32_t consumer;      /* live: pid, set by the consumer; 0: none */
	uint32_t returned_head; /* live: count of entries it has put */
	uint32_t returned_tail; /* live: count of entries taken */
	uint32_t returned[AMUX_TRACE_RETURNED]; /* live: block numbers */
};

enum amux_trace_kind {
	AMUX_TRACE_EVENTS = 1,
	AMUX_TRACE_STACKS = 2,
	AMUX_TRACE_INFO = 3,
	AMUX_TRACE_SITES = 4
};

/* amux_trace_block.flags: nothing will be added any more. */
#define AMUX_TRACE_CLOSED 1u
#define AMUX_TRACE_TAKEN  2u /* set by a consumer that has copied the block */

/* The first 64 bytes of every block but the file header. */
struct amux_trace_block {
	uint32_t magic; /* AMUX_TRACE_BLOCK_MAGIC; 0 if the block is unused */
	uint8_t kind;   /* enum amux_trace_kind */
	uint8_t flags;  /* live: AMUX_TRACE_CLOSED */
	uint16_t header_size; /* 64 */
	uint32_t lane;      /* EVENTS: writer, from 1; SITES: snapshot; or 0 */
	uint32_t sequence;  /* from 0 within its kind and lane */
	uint64_t start_ns;  /* time at which decoding of EVENTS starts */
	uint64_t end_ns;    /* live: time when closed; 0 before */
	uint64_t committed; /* live: low 32 bits: bytes after this header;
			     * high 32 bits: bytes at the end of the block */
	uint64_t order;     /* from 1 over the whole file, never reused */
	uint64_t events;    /* live, EVENTS: count when closed; 0 before */
	uint32_t thread;    /* EVENTS: whose events come first; from 1 */
	uint32_t index;     /* where it was written: block number in the file */
};

/* ---- EVENTS: a tag byte is op | address code << 3 ---- */

enum amux_trace_op {
	AMUX_TRACE_OP_MARK = 0,       /* bits 3 to 7: enum amux_trace_mark */
	AMUX_TRACE_OP_ALLOC = 1,      /* slot */
	AMUX_TRACE_OP_ALLOC_NEW = 2,  /* slot how stack size excess */
	AMUX_TRACE_OP_ALLOC_SIZE = 3, /* slot size excess */
	AMUX_TRACE_OP_FREE = 4,
	AMUX_TRACE_OP_REALLOC = 5
};

enum amux_trace_mark {
	AMUX_TRACE_MARK_TIME = 1,         /* varint: nanoseconds to add */
	AMUX_TRACE_MARK_LOST = 2,         /* varint: events lost here */
	AMUX_TRACE_MARK_REALLOC_FAIL = 3, /* the last REALLOC did not happen */
	AMUX_TRACE_MARK_FAILED = 4,       /* how stack size: returned NULL */
	AMUX_TRACE_MARK_THREAD = 5        /* varint: the lane's new thread */
};

/* Low two bits of `how`; the upper six are log2 of the alignment, 0 if none. */
enum amux_trace_call {
	AMUX_TRACE_MALLOC = 0,
	AMUX_TRACE_CALLOC = 1,
	AMUX_TRACE_REALLOCED = 2,
	AMUX_TRACE_ALIGNED = 3
};

/* Address codes: how an address operand is written. */
enum amux_trace_address {
	AMUX_TRACE_ADDR_RECENT = 0, /* 1 byte: index into recent[] */
	AMUX_TRACE_ADDR_D1 = 1,     /* signed difference / 8 in 1 byte */
	AMUX_TRACE_ADDR_D2 = 2,
	AMUX_TRACE_ADDR_D3 = 3,
	AMUX_TRACE_ADDR_D4 = 4,
	AMUX_TRACE_ADDR_D6 = 5,
	AMUX_TRACE_ADDR_SAME = 6,    /* no bytes */
	AMUX_TRACE_ADDR_ABSOLUTE = 7 /* 8 bytes: the address */
};

#define AMUX_TRACE_SLOTS   256u /* allocation slots a decoder keeps */
#define AMUX_TRACE_RECENT  256u /* recent addresses a decoder keeps */
#define AMUX_TRACE_CLASSES 64u  /* last addresses a decoder keeps by size */

/* Which entry of recent[] an address uses. */
static inline uint32_t amux_trace_recent_index(uint64_t addr)
{
	return (uint32_t)((uint32_t)(addr >> 4) * 0x9e3779b1u) >> 24;
}

/* Which entry of last[] an allocation of this many usable bytes uses. */
static inline uint32_t amux_trace_class_index(uint64_t usable)
{
	return (uint32_t)(usable >> 4) % AMUX_TRACE_CLASSES;
}

/* ---- INFO: records of struct amux_trace_info plus payload ---- */

enum amux_trace_info_type {
	AMUX_TRACE_INFO_TEXT = 1,
	AMUX_TRACE_INFO_LOAD = 2,
	AMUX_TRACE_INFO_UNLOAD = 3,
	AMUX_TRACE_INFO_THREAD = 4,
	AMUX_TRACE_INFO_NAME = 5,
	AMUX_TRACE_INFO_THREAD_END = 6,
	AMUX_TRACE_INFO_FORK = 7,
	AMUX_TRACE_INFO_CONTROL = 8,
	AMUX_TRACE_INFO_SUMMARY = 9
};

/* Every record starts so; the next starts at the next multiple of 8. */
struct amux_trace_info {
	uint16_t type;   /* enum amux_trace_info_type */
	uint16_t flags;  /* 0 */
	uint32_t length; /* bytes, with this struct, without the padding */
	uint64_t ns;     /* time */
};

enum amux_trace_text {
	AMUX_TRACE_TEXT_EXE = 1,     /* path of the program */
	AMUX_TRACE_TEXT_CMDLINE = 2, /* arguments, each ended by NUL */
	AMUX_TRACE_TEXT_CWD = 3,
	AMUX_TRACE_TEXT_BACKEND = 4, /* name; again after a switch */
	AMUX_TRACE_TEXT_BACKEND_VERSION = 5,
	AMUX_TRACE_TEXT_VERSION = 6, /* of Allocmux */
	AMUX_TRACE_TEXT_OPTIONS = 7, /* ALLOC_* variables, each ended by NUL */
	AMUX_TRACE_TEXT_PARENT = 8   /* forked child: the parent's trace file */
};

struct amux_trace_info_text {
	struct amux_trace_info info;
	uint32_t key;    /* enum amux_trace_text */
	uint32_t length; /* bytes that follow; not NUL-terminated */
};

struct amux_trace_segment {
	uint64_t start;  /* run-time address */
	uint64_t end;    /* first address after it */
	uint64_t offset; /* in the file */
	uint32_t flags;  /* PF_R, PF_W, PF_X */
	uint32_t reserved;
};

/* Followed by segments, the build-id and the path (absolute; not ended). */
struct amux_trace_info_load {
	struct amux_trace_info info;
	uint32_t module;          /* from 1, never reused */
	uint32_t epoch;           /* first epoch in which it is there */
	uint64_t bias;            /* run-time address minus ELF address */
	uint64_t start;           /* lowest run-time address */
	uint64_t end;             /* first address after the highest */
	uint32_t segments;        /* struct amux_trace_segment that follow */
	uint32_t build_id_length; /* bytes; 0 if the file has none */
	uint32_t path_length;     /* bytes */
	uint32_t reserved;
};

struct amux_trace_info_unload {
	struct amux_trace_info info;
	uint32_t module;
	uint32_t epoch; /* first epoch in which it is gone */
};

/* THREAD and THREAD_END. */
struct amux_trace_info_thread {
	struct amux_trace_info info;
	uint32_t thread; /* from 1, never reused */
	uint32_t tid;    /* the kernel's */
};

struct amux_trace_info_name {
	struct amux_trace_info info;
	uint32_t thread;
	uint32_t length; /* bytes of the name that follow */
};

struct amux_trace_info_fork {
	struct amux_trace_info info;
	uint32_t child; /* pid */
	uint32_t reserved;
};

enum amux_trace_control {
	AMUX_TRACE_CONTROL_START = 1,
	AMUX_TRACE_CONTROL_STOP = 2,
	AMUX_TRACE_CONTROL_SNAPSHOT = 3
};

struct amux_trace_info_control {
	struct amux_trace_info info;
	uint32_t what;   /* enum amux_trace_control */
	uint32_t number; /* SNAPSHOT: from 1, as in SITES blocks */
};

/* Last record of a trace that ended in order. Counts since its start. */
struct amux_trace_info_summary {
	struct amux_trace_info info;
	uint64_t allocs;  /* successful allocations, reallocations too */
	uint64_t frees;   /* blocks given back, moved by realloc too */
	uint64_t bytes;   /* requested by allocs */
	uint64_t threads; /* that made an event */
	uint64_t stacks;  /* distinct */
	uint64_t modules;
	uint64_t lost_events;
	uint64_t lost_bytes;
};

/* ---- SITES: an array of these ---- */

#define AMUX_TRACE_LIFETIMES 12u

/* All fields are live. Bytes are requested bytes unless named usable. */
struct amux_trace_site {
	uint32_t stack;        /* id; 0: unused entry */
	uint32_t flags;        /* 0 */
	uint64_t allocs;       /* calls that gave a block */
	uint64_t frees;        /* of blocks allocated here */
	uint64_t bytes;        /* sum over allocs */
	uint64_t usable;       /* usable bytes, sum over allocs */
	uint64_t live_bytes;   /* now */
	uint64_t peak_bytes;   /* greatest live_bytes */
	uint64_t at_peak;      /* see "Peak" in docs/trace-format.md */
	uint64_t changed_peak; /* total_peak when live_bytes last changed */
	uint64_t temporary;    /* freed before their thread's next alloc */
	uint64_t reallocs;     /* part of allocs: results of realloc */
	uint64_t max_size;     /* greatest single request */
	uint64_t live_usable;  /* usable bytes, now */
	uint64_t reserved[7];
	uint64_t lifetimes[AMUX_TRACE_LIFETIMES]; /* see the document */
};

#ifdef __cplusplus
}
#endif

#endif
