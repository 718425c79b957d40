/* SPDX-License-Identifier: MIT */
/*
 * listing.c - what backends this machine has, without loading any.
 *
 * For tools: reads folders, allocates through libc's opendir(3) and glob(3),
 * and is never on an allocation's path.
 */
#include <allocmux/allocmux.h>

#include <dirent.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/os.h"
#include "builtin.h"
#include "config.h"
#include "dispatch.h"
#include "registry.h"

struct visitor {
	amux_backend_visit_fn *visit;
	void *arg;
};

static int visit(struct visitor *visitor, struct amux_backend_info info)
{
	info.size = sizeof(info);
	return visitor->visit(&info, visitor->arg);
}

static int visit_builtins(struct visitor *visitor)
{
	const struct amux_backend *b;
	int result = visit(
		visitor, (struct amux_backend_info){
				 .kind = AMUX_KIND_BUILTIN,
				 .name = "system",
				 .summary = "libc's own malloc, untouched",
			 });

	for (unsigned i = 0; !result && (b = builtin_backend(i)); i++) {
		result = visit(visitor, (struct amux_backend_info){
						.kind = AMUX_KIND_BUILTIN,
						.name = b->name,
						.version = b->version,
						.summary = b->summary,
					});
	}
	return result;
}

/* Every NAME.so of one folder. */
static int visit_plugins_in(struct visitor *visitor, const char *folder)
{
	static const char suffix[] = ".so";
	char path[PATH_MAX], name[NAME_MAX + 1];
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int result = 0;

	while (dir && !result && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);

		if (len < sizeof(suffix) ||
			strcmp(entry->d_name + len - 3, suffix) != 0) {
			continue;
		}
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		snprintf(name, sizeof(name), "%.*s", (int)(len - 3),
			entry->d_name);
		result = visit(visitor, (struct amux_backend_info){
						.kind = AMUX_KIND_PLUGIN,
						.name = name,
						.path = path,
						.summary = "a plugin",
					});
	}
	if (dir) {
		closedir(dir);
	}
	return result;
}

static int visit_plugins(struct visitor *visitor)
{
	char dirs[PATH_MAX];
	char *rest = NULL;
	int result = 0;

	snprintf(dirs, sizeof(dirs), "%s",
		config_is_set(OPTION_PLUGIN_PATH)
			? config_string(OPTION_PLUGIN_PATH)
			: "");
	for (char *dir = strtok_r(dirs, ":", &rest); dir && !result;
		dir = strtok_r(NULL, ":", &rest)) {
		result = visit_plugins_in(visitor, dir);
	}
	return result ? result : visit_plugins_in(visitor, AMUX_PLUGIN_DIR);
}

/* The file that the loader would take for soname, or close to it. */
static bool find_library(const char *soname, char *path, size_t size)
{
	static const char *const folders[] = {
		"/usr/local/lib",
#if defined(__x86_64__)
		"/lib/x86_64-linux-gnu",
		"/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
		"/lib/aarch64-linux-gnu",
		"/usr/lib/aarch64-linux-gnu",
#endif
		"/lib64",
		"/usr/lib64",
		"/lib",
		"/usr/lib",
		"/usr/lib/llvm-*/lib/clang/*/lib/linux"
	};
	char pattern[PATH_MAX];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		glob_t found;
		bool any;

		snprintf(pattern, sizeof(pattern), "%s/%s", folders[i], soname);
		any = glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0;
		if (any) {
			snprintf(path, size, "%s", found.gl_pathv[0]);
		}
		globfree(&found);
		if (any) {
			return true;
		}
	}
	return false;
}

/* "4.5.10" of libtcmalloc_minimal.so.4.5.10, behind every link; or "". */
static void file_version(const char *path, char *version, size_t size)
{
	char real[PATH_MAX];
	const char *suffix;

	version[0] = '\0';
	if (realpath(path, real)) {
		suffix = strstr(real, ".so.");
		snprintf(version, size, "%s", suffix ? suffix + 4 : "");
	}
}

static int visit_libraries(struct visitor *visitor)
{
	const struct known_library *library;
	char path[PATH_MAX], version[64];
	int result = 0;

	for (size_t i = 0; !result && (library = registry_library(i)); i++) {
		const char *const *soname = library->sonames;

		while (*soname && !find_library(*soname, path, sizeof(path))) {
			soname++;
		}
		if (!*soname) {
			continue;
		}
		file_version(path, version, sizeof(version));
		result = visit(
			visitor, (struct amux_backend_info){
					 .kind = AMUX_KIND_EXTERNAL,
					 .name = library->name,
					 .path = path,
					 .version = *version ? version : NULL,
					 .summary = library->summary,
					 .caveat = library->caveat,
				 });
	}
	return result;
}

AMUX_API int amux_backend_list(amux_backend_visit_fn *fn, void *arg)
{
	struct visitor visitor = {fn, arg};
	int result;

	lifecycle_start();
	result = visit_builtins(&visitor);
	if (!result) {
		result = visit_plugins(&visitor);
	}
	return result ? result : visit_libraries(&visitor);
}
