/* SPDX-License-Identifier: MIT */
/*
 * launch.c - find the shim, set LD_PRELOAD and ALLOC_BACKEND, execute.
 *
 * LD_PRELOAD is a list separated by colons and spaces, and ld.so has no way to
 * quote them: a path that contains one cannot be preloaded.
 *
 * Not here: names of backends and what they stand for (the library knows).
 */
#include "launch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends.h"
#include "elffile.h"
#include "tool.h"
#include "version.h"

enum { EXIT_CANNOT_EXECUTE = 126, EXIT_NO_PROGRAM = 127 };

/*
 * What glibc keeps free for the static TLS of libraries loaded late is 1,664
 * bytes (2.31 to 2.42) less what was taken before; leave some for others.
 */
#define TLS_LATE_MAX ((size_t)1024)

static struct {
	char shim[PATH_MAX];
} g;

/* Where the shim may lie, from the directory that this program is in. */
static const char *const shim_places[] = {
	AMUX_BINDIR_TO_LIBDIR, /* as installed */
	"../lib",              /* moved as a whole */
};

static bool preload_can_name(const char *path)
{
	if (strpbrk(path, ": \t\n") == NULL) {
		return true;
	}
	tool_error("LD_PRELOAD cannot name `%s': move it to a path without "
		   "spaces and colons",
		path);
	return false;
}

static bool shim_beside_program(void)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (length < 0) {
		tool_perror("cannot read /proc/self/exe");
		return false;
	}
	self[length] = '\0';
	slash = strrchr(self, '/');
	*slash = '\0';
	for (size_t i = 0; i < sizeof(shim_places) / sizeof(shim_places[0]);
		i++) {
		char *path = tool_format(
			"%s/%s/liballocmux_shim.so", self, shim_places[i]);
		bool found = realpath(path, g.shim) != NULL;

		free(path);
		if (found) {
			return true;
		}
	}
	tool_error("cannot find liballocmux_shim.so beside %s/; set "
		   "ALLOCMUX_SHIM to its path",
		self);
	return false;
}

const char *launch_shim(void)
{
	const char *path = getenv("ALLOCMUX_SHIM");

	if (g.shim[0] == '\0') {
		if (path == NULL || *path == '\0') {
			if (!shim_beside_program()) {
				g.shim[0] = '\0';
				return NULL;
			}
		} else if (realpath(path, g.shim) == NULL) {
			tool_perror("ALLOCMUX_SHIM=%s", path);
			g.shim[0] = '\0';
			return NULL;
		}
	}
	return preload_can_name(g.shim) ? g.shim : NULL;
}

/* The library that must be in memory from the start, or NULL. */
static const char *early_library(const char *backend)
{
	const struct backend_entry *entry;
	const char *path = backend;

	if (backend == NULL) {
		return NULL;
	}
	if (strchr(backend, '/') == NULL) {
		entry = backends_named(backend);
		path = entry != NULL && entry->kind == AMUX_KIND_EXTERNAL
			       ? entry->path
			       : NULL;
	}
	return path != NULL && elf_static_tls(path) > TLS_LATE_MAX ? path
								   : NULL;
}

int launch_setenv(const char *backend)
{
	const char *shim = launch_shim();
	const char *before = getenv("LD_PRELOAD");
	const char *early;
	char *preload;
	int status;

	if (shim == NULL) {
		return -1;
	}
	if (backend != NULL && setenv("ALLOC_BACKEND", backend, 1) != 0) {
		tool_perror("setenv");
		return -1;
	}
	early = early_library(getenv("ALLOC_BACKEND"));
	if (early != NULL && !preload_can_name(early)) {
		return -1;
	}
	preload = tool_format("%s%s%s%s%s", shim, early ? ":" : "",
		early ? early : "", before && *before ? ":" : "",
		before ? before : "");
	status = setenv("LD_PRELOAD", preload, 1);
	free(preload);
	if (status != 0) {
		tool_perror("setenv");
	}
	return status;
}

/* Where execvp(3) would find `program`; false if nowhere. */
static bool program_find(const char *program, char *path, size_t size)
{
	const char *list = getenv("PATH");

	if (strchr(program, '/') != NULL) {
		return (size_t)snprintf(path, size, "%s", program) < size;
	}
	if (list == NULL) {
		list = "/bin:/usr/bin";
	}
	while (true) {
		size_t length = strcspn(list, ":");
		int n = snprintf(path, size, "%.*s%s%s", (int)length, list,
			length > 0 ? "/" : "", program);

		if (n > 0 && (size_t)n < size && access(path, X_OK) == 0) {
			return true;
		}
		if (list[length] == '\0') {
			return false;
		}
		list += length + 1;
	}
}

void launch_warn(const char *program)
{
	char path[PATH_MAX];
	struct stat info;

	if (!program_find(program, path, sizeof(path)) ||
		stat(path, &info) != 0) {
		return; /* launch_exec() will say what is wrong */
	}
	if (elf_is_static(path)) {
		tool_error("warning: %s is statically linked; its malloc "
			   "cannot be replaced by preloading",
			path);
	} else if (((info.st_mode & S_ISUID) != 0 &&
			   info.st_uid != geteuid()) ||
		   ((info.st_mode & S_ISGID) != 0 &&
			   info.st_gid != getegid())) {
		tool_error("warning: %s changes its user or group; ld.so will "
			   "ignore LD_PRELOAD",
			path);
	}
}

void launch_exec(char **argv)
{
	int status;

	execvp(argv[0], argv);
	status = errno == ENOENT ? EXIT_NO_PROGRAM : EXIT_CANNOT_EXECUTE;
	tool_perror("cannot execute `%s'", argv[0]);
	exit(status);
}
