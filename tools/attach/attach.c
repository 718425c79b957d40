/* SPDX-License-Identifier: MIT */
/*
 * attach.c - `allocmux attach` and `allocmux detach`: the shim in a program
 * that was started without it.
 *
 * Loading the shim (inject.h) redirects the program's calls and opens its
 * control channel; the rest goes through the channel.
 * Not here: how calls are redirected (the shim does it).
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channel.h"
#include "image.h"
#include "inject.h"
#include "launch.h"
#include "operands.h"
#include "regs.h"
#include "target.h"
#include "tool.h"

enum { KEY_SECCOMP = 256, SECCOMP_FILTERED = 2 };

static const struct tool_option attach_options[] = {
	{"backend", 'b', "NAME",
		"Serve new blocks from this backend; without it, from what the "
		"program's environment says (ALLOC_BACKEND), or the default",
		VALUE_BACKEND},
	{"filtered", KEY_SECCOMP, NULL,
		"Attach although the program filters its system calls "
		"(seccomp): it may be killed for opening a file, mapping "
		"memory, making a thread or a socket",
		VALUE_ANY},
	{0},
};

static int attach_main(int argc, char **argv);
static int detach_main(int argc, char **argv);

#define ATTACH_STATUS_TEXT                                                     \
	TARGET_STATUS_TEXT                                                     \
	"; 8 it is of a kind that cannot be attached to; 9 no safe moment "    \
	"was found, try again"

const struct command command_attach = {
	.name = "attach",
	.usage = "PID [--backend NAME]",
	.summary = "Put the shim under a running program",
	.text = "Loads the shim into a program of the same user that runs "
		"without it, by ptrace(2), and sends the malloc calls of all "
		"its modules, loaded now or later, through it. Blocks made "
		"before stay libc's. From then on `allocmux status', `switch' "
		"and `trim' work too. The program is stopped for moments only, "
		"and where that fails it goes on as it was.\n\n"
		"Not for statically linked programs, for other C libraries "
		"than glibc, or for programs with a malloc of their own.\n\n" ATTACH_STATUS_TEXT
		".",
	.options = attach_options,
	.main = attach_main,
};

const struct command command_detach = {
	.name = "detach",
	.usage = "PID",
	.summary = "Undo an attach, as far as live blocks allow",
	.text = "New blocks come from libc directly again. What other "
		"backends still hold goes home when it is freed: free(3) and "
		"realloc(3) go on passing through the shim, which stays in "
		"memory. The control channel closes.\n\n" TARGET_STATUS_TEXT
		".",
	.main = detach_main,
};

static struct {
	const char *backend;
	bool filtered;
} g;

static void on_option(int key, const char *value)
{
	if (key == 'b') {
		g.backend = value;
	} else {
		g.filtered = true;
	}
}

static int unfit(const struct target *target, const char *why)
{
	tool_error("process %d (%s) %s", (int)target->pid, target->name, why);
	return TARGET_UNFIT;
}

/* A 64-bit program of this machine. */
static bool is_native(const struct target *target)
{
	Elf64_Ehdr header = {0};
	int fd = open(target_path(target, "exe"), O_RDONLY | O_CLOEXEC);
	bool native = fd >= 0 &&
		      read(fd, &header, sizeof(header)) == sizeof(header) &&
		      header.e_ident[EI_CLASS] == ELFCLASS64 &&
		      header.e_machine == regs_elf_machine();

	if (fd >= 0) {
		close(fd);
	}
	return native;
}

/* Conditions that pass or can be lifted. */
static int check_state(const struct target *target)
{
	if (target->tracer != 0) {
		tool_error("process %d (%s) is being traced by process %d "
			   "(a debugger?)",
			(int)target->pid, target->name, (int)target->tracer);
		return TARGET_UNFIT;
	}
	if (target->state == 'T') {
		return unfit(
			target, "is stopped; continue it first (kill -CONT)");
	}
	if (target->seccomp != 0 &&
		(target->seccomp != SECCOMP_FILTERED || !g.filtered)) {
		return unfit(target,
			target->seccomp == SECCOMP_FILTERED
				? "filters its system calls (seccomp), which "
				  "may kill it for what attaching does; "
				  "--filtered attaches all the same"
				: "is in strict seccomp mode");
	}
	return 0;
}

static struct image *find_libc(const struct images *images)
{
	struct image *libc = images_named(images, "libc.so.6");

	return libc != NULL ? libc : images_named(images, "libc-2.");
}

/* Whose malloc does the program use? It must be libc's. */
static int check_malloc(
	const struct target *target, struct images *images, struct image *libc)
{
	for (size_t i = 0; i < images->count; i++) {
		struct image *image = &images->list[i];

		if (image == libc ||
			strncmp(image_name(image), "ld-", 3) == 0) {
			continue;
		}
		image_study(images, image);
		if (image->defines_malloc) {
			tool_error("process %d (%s) uses the malloc in %s, not "
				   "libc's",
				(int)target->pid, target->name, image->path);
			return TARGET_UNFIT;
		}
	}
	return 0;
}

/* Is the file at this path the same for the target as for us? */
static int check_visible(const struct target *target, const char *path)
{
	struct stat ours, theirs;
	char *there = tool_format("/proc/%d/root%s", (int)target->pid, path);
	bool same = stat(path, &ours) == 0 && stat(there, &theirs) == 0 &&
		    ours.st_ino == theirs.st_ino &&
		    ours.st_dev == theirs.st_dev;

	free(there);
	if (!same) {
		tool_error("process %d (%s) is in another mount name space and "
			   "does not see %s",
			(int)target->pid, target->name, path);
		return TARGET_UNFIT;
	}
	return 0;
}

static int load_shim(const struct target *target, struct images *images,
	struct image *libc, const char *shim)
{
	/* Preloaded, or attached to before: the file that is there. */
	const struct image *present =
		images_named(images, "liballocmux_shim.so");
	int status = present == NULL ? check_malloc(target, images, libc) : 0;
	int err = 0;

	if (present != NULL) {
		shim = present->path;
	} else if (status == 0) {
		status = check_visible(target, shim);
	}
	if (status == 0) {
		status = inject(
			target, images, libc, shim, "amux_control_start", &err);
	}
	if (status == 0 && err != 0) {
		tool_error("process %d (%s) has the shim now, but no control "
			   "channel: %s",
			(int)target->pid, target->name, strerror(err));
		status = TOOL_FAILED;
	}
	return status;
}

static int attach(const struct target *target, const char *shim)
{
	struct images images;
	struct image *libc;
	int status;

	if (!images_read(&images, target->pid)) {
		tool_error("process %d (%s) may not be looked at: %s",
			(int)target->pid, target->name, strerror(errno));
		return TARGET_NOT_YOURS;
	}
	libc = find_libc(&images);
	if (images.count == 0) {
		status = unfit(target, "is no user program");
	} else if (!is_native(target)) {
		status = unfit(target, "is no 64-bit program of this machine");
	} else if (libc == NULL) {
		status = unfit(target,
			images_named(&images, "ld-") != NULL
				? "uses another C library than glibc"
				: "is statically linked: there is no loader in "
				  "it that could load the shim");
	} else {
		status = load_shim(target, &images, libc, shim);
	}
	images_free(&images);
	return status;
}

static int say_attached(const struct target *target)
{
	struct answer answer;
	uint64_t active;
	int status = channel_do(target, "status", NULL, &answer);

	if (status != 0) {
		return status;
	}
	for (size_t i = 0; i < answer.count; i++) {
		const char *keys = answer_line(answer.lines[i], "owner");

		if (keys != NULL && answer_number(keys, "active", &active) &&
			active) {
			printf("%d (%s): attached; new blocks come from %s\n",
				(int)target->pid, target->name,
				answer_rest(keys, "name"));
		}
	}
	answer_free(&answer);
	return TOOL_OK;
}

static int attach_main(int argc, char **argv)
{
	const char *operand, *shim;
	struct target target;
	struct answer answer;
	int status;

	status = operands_read(
		&command_attach, argc, argv, &operand, 1, on_option);
	if (status == 0) {
		status = target_find(operand, &target);
	}
	if (status == 0) {
		status = check_state(&target);
	}
	if (status != 0) {
		return status;
	}
	shim = launch_shim();
	if (shim == NULL) {
		return TOOL_BROKEN;
	}
	status = attach(&target, shim);
	if (status == 0 && g.backend != NULL) {
		status = channel_do(&target, "switch", g.backend, &answer);
		if (status == 0) {
			answer_free(&answer);
		}
	}
	if (status == 0) {
		status = say_attached(&target);
	}
	return status;
}

static int detach_main(int argc, char **argv)
{
	const char *operand;
	struct target target;
	struct answer answer;
	int status;

	status = operands_read(&command_detach, argc, argv, &operand, 1, NULL);
	if (status == 0) {
		status = target_find(operand, &target);
	}
	if (status == 0) {
		status = channel_do(&target, "detach", NULL, &answer);
	}
	if (status != 0) {
		return status;
	}
	printf("%d (%s): detached; new blocks come from libc\n",
		(int)target.pid, target.name);
	answer_free(&answer);
	return TOOL_OK;
}
