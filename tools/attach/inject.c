/* SPDX-License-Identifier: MIT */
/*
 * inject.c - see inject.h.
 *
 * A moment is looked for at which some thread may load a library (safety.h);
 * threads in system calls are preferred for the first rounds. The calls run on
 * a stack of their own, since the thread's may be small.
 */
#include "inject.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "ptracecall.h"
#include "safety.h"
#include "tool.h"

enum {
	ROUNDS = 2000, /* 20 s and more */
	SYSCALL_ROUNDS = 50,
	PAUSE_NS = 10 * 1000 * 1000,
	STACK_SIZE = 1 << 20,
	TEXT_SIZE = 8192, /* at the stack's top end, for strings */
};

/* What is called in the target. */
struct functions {
	uintptr_t errno_location, mmap, munmap, dlopen, dlsym, dlerror;
};

struct injection {
	const struct target *target;
	struct functions libc;
	struct tracee tracee;
	uintptr_t stack; /* lowest address of our mapping there; 0 if none */
	enum tracee_outcome outcome; /* of the last call */
};

static uintptr_t text_place(const struct injection *in)
{
	return in->stack + STACK_SIZE - TEXT_SIZE;
}

static uintptr_t call(struct injection *in, uintptr_t function, uintptr_t a,
	uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e)
{
	const uintptr_t arguments[REGS_ARGUMENTS] = {a, b, c, d, e, 0};
	uintptr_t result = 0;

	in->outcome =
		tracee_call(&in->tracee, in->stack != 0 ? text_place(in) : 0,
			&result, function, arguments);
	return result;
}

static bool find_functions(struct functions *functions,
	const struct images *images, const struct image *libc)
{
	/* Before glibc 2.34 dlopen and its kin are libdl's. */
	const struct image *libdl = images_named(images, "libdl");
	const struct {
		const char *name;
		uintptr_t *place;
	} wanted[] = {
		{"__errno_location", &functions->errno_location},
		{"mmap", &functions->mmap},
		{"munmap", &functions->munmap},
		{"dlopen", &functions->dlopen},
		{"dlsym", &functions->dlsym},
		{"dlerror", &functions->dlerror},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		uintptr_t addr = image_symbol(images, libc, wanted[i].name);

		if (addr == 0 && libdl != NULL) {
			addr = image_symbol(images, libdl, wanted[i].name);
		}
		if (addr == 0) {
			tool_error("the program's C library has no %s",
				wanted[i].name);
			return false;
		}
		*wanted[i].place = addr;
	}
	return true;
}

static bool write_text(struct injection *in, const char *text)
{
	return strlen(text) < TEXT_SIZE &&
	       tracee_write(
		       &in->tracee, text_place(in), text, strlen(text) + 1);
}

/* Report what dlerror(3) says there. */
static void report_dlerror(struct injection *in, const char *path)
{
	uintptr_t text = call(in, in->libc.dlerror, 0, 0, 0, 0, 0);
	char message[512] = "";

	for (size_t i = 0; text != 0 && i + 1 < sizeof(message); i++) {
		if (!tracee_read(&in->tracee, text + i, &message[i], 1) ||
			message[i] == '\0') {
			message[i] = '\0';
			break;
		}
	}
	tool_error("process %d cannot load %s: %s", (int)in->target->pid, path,
		*message ? message : "no reason given");
}

/* A call that did not come back. */
static int report_outcome(const struct injection *in, const char *what)
{
	int pid = (int)in->target->pid;

	if (in->outcome == TRACEE_GONE) {
		tool_error("process %d ended during %s", pid, what);
		return TARGET_GONE;
	}
	tool_error("%s did not come back in process %d; its thread was put "
		   "back to where it was",
		what, pid);
	return TOOL_FAILED;
}

/* On the stack of our own: load, find, call. */
static int load_and_call(struct injection *in, const char *path,
	const char *function, int *result)
{
	uintptr_t handle, addr;

	if (!write_text(in, path)) {
		tool_error("the path of the shim is too long");
		return TOOL_BROKEN;
	}
	handle = call(in, in->libc.dlopen, text_place(in), RTLD_NOW, 0, 0, 0);
	if (in->outcome != TRACEE_OK) {
		return report_outcome(in, "dlopen(3)");
	}
	if (handle == 0) {
		report_dlerror(in, path);
		return TOOL_FAILED;
	}
	write_text(in, function);
	addr = call(in, in->libc.dlsym, handle, text_place(in), 0, 0, 0);
	if (in->outcome == TRACEE_OK && addr == 0) {
		report_dlerror(in, path);
		return TOOL_FAILED;
	}
	if (in->outcome == TRACEE_OK) {
		*result = (int)call(in, addr, 0, 0, 0, 0, 0);
	}
	return in->outcome == TRACEE_OK ? 0 : report_outcome(in, function);
}

/* Map the stack, work on it, unmap it; errno stays as it was. */
static int use_thread(struct injection *in, const char *path,
	const char *function, int *result)
{
	uintptr_t place, stack;
	int saved_errno = 0, status;

	place = call(in, in->libc.errno_location, 0, 0, 0, 0, 0);
	if (in->outcome != TRACEE_OK ||
		!tracee_read(&in->tracee, place, &saved_errno, sizeof(int))) {
		return report_outcome(in, "the first call");
	}
	stack = call(in, in->libc.mmap, 0, STACK_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, (uintptr_t)-1);
	if (in->outcome != TRACEE_OK) {
		return report_outcome(in, "mmap(2)");
	}
	if (stack == (uintptr_t)-1) {
		tool_error(
			"process %d has no memory left", (int)in->target->pid);
		status = TOOL_FAILED;
	} else {
		in->stack = stack;
		status = load_and_call(in, path, function, result);
		in->stack = 0;
		if (in->outcome == TRACEE_OK) {
			call(in, in->libc.munmap, stack, STACK_SIZE, 0, 0, 0);
		}
	}
	tracee_write(&in->tracee, place, &saved_errno, sizeof(int));
	return status;
}

/* The thread is stopped at a safe place. */
static int inject_into(struct injection *in, const char *path,
	const char *function, int *result)
{
	int status;

	if (!tracee_begin(&in->tracee)) {
		tool_perror("cannot save the state of thread %d",
			(int)in->tracee.tid);
		return TOOL_BROKEN;
	}
	status = use_thread(in, path, function, result);
	if (!tracee_end(&in->tracee) && status == 0) {
		tool_perror("cannot restore thread %d", (int)in->tracee.tid);
		status = TOOL_BROKEN;
	}
	return status;
}

enum search { FOUND, NOT_NOW, DENIED };

/* Stop this thread; keep it stopped if it may be used. */
static enum search try_thread(
	struct injection *in, struct safety *safety, pid_t tid, bool any_place)
{
	switch (tracee_stop(&in->tracee, in->target->pid, tid)) {
	case TRACEE_OK:
		break;
	case TRACEE_DENIED:
		return DENIED;
	default:
		return NOT_NOW;
	}
	if ((any_place || safety_in_syscall(&in->tracee)) &&
		safety_is_safe(safety, &in->tracee)) {
		return FOUND;
	}
	tracee_release(&in->tracee);
	return NOT_NOW;
}

/* One look at each thread. */
static enum search try_threads(
	struct injection *in, struct safety *safety, bool any_place)
{
	DIR *tasks = opendir(target_path(in->target, "task"));
	enum search found = NOT_NOW;
	struct dirent *entry;

	if (tasks == NULL) {
		return NOT_NOW;
	}
	while (found == NOT_NOW && (entry = readdir(tasks)) != NULL) {
		int tid = atoi(entry->d_name);

		if (tid > 0) {
			found = try_thread(in, safety, tid, any_place);
		}
	}
	closedir(tasks);
	return found;
}

static int report_denied(const struct target *target)
{
	if (errno == EPERM || errno == EACCES) {
		tool_error("process %d (%s) may not be traced: %s "
			   "(/proc/sys/kernel/yama/ptrace_scope and prctl's "
			   "PR_SET_DUMPABLE have a say)",
			(int)target->pid, target->name, strerror(errno));
		return TARGET_NOT_YOURS;
	}
	tool_perror("cannot trace process %d", (int)target->pid);
	return TOOL_BROKEN;
}

static int search(struct injection *in, const struct images *images,
	const struct image *libc, const char *path, const char *function,
	int *result)
{
	static const struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct safety safety;
	int status;

	if (!safety_init(&safety, images, libc)) {
		tool_error("cannot read the symbols of %s", libc->path);
		return TARGET_UNFIT;
	}
	for (int round = 0; round < ROUNDS; round++) {
		switch (try_threads(in, &safety, round >= SYSCALL_ROUNDS)) {
		case FOUND:
			status = inject_into(in, path, function, result);
			tracee_release(&in->tracee);
			return status;
		case DENIED:
			if (errno != ESRCH) {
				return report_denied(in->target);
			}
			break;
		case NOT_NOW:
			break;
		}
		nanosleep(&pause, NULL);
	}
	tool_error("process %d (%s) had no thread outside the loader and the "
		   "allocator whenever it was looked at; try again",
		(int)in->target->pid, in->target->name);
	return TARGET_BUSY;
}

int inject(const struct target *target, const struct images *images,
	const struct image *libc, const char *path, const char *function,
	int *result)
{
	struct injection *in = tool_alloc(sizeof(*in));
	sigset_t all, before;
	int status;

	in->target = target;
	if (!find_functions(&in->libc, images, libc)) {
		free(in);
		return TARGET_UNFIT;
	}
	/* To end in the middle would leave the thread on a stack of ours. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	status = search(in, images, libc, path, function, result);
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(in);
	return status;
}
