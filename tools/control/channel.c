/* SPDX-License-Identifier: MIT */
/*
 * channel.c - see channel.h.
 *
 * Anybody may bind a name in the abstract namespace: what answers is believed
 * only if the kernel says that it is the process that was asked for.
 */
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <allocmux/control.h>

#include "tool.h"

/* Is the target in another network name space, where its socket is? */
static bool is_elsewhere(const struct target *target)
{
	struct stat ours, theirs;

	return stat("/proc/self/ns/net", &ours) == 0 &&
	       stat(target_path(target, "ns/net"), &theirs) == 0 &&
	       ours.st_ino != theirs.st_ino;
}

/* Go where its socket is; nothing else of this program uses the network. */
static bool enter_network(const struct target *target)
{
	int fd = open(target_path(target, "ns/net"), O_RDONLY | O_CLOEXEC);
	bool entered = fd >= 0 && setns(fd, CLONE_NEWNET) == 0;

	if (fd >= 0) {
		close(fd);
	}
	return entered;
}

/* Nothing listens: why? */
static int explain_silence(const struct target *target)
{
	int mapped = target_has_mapped(target, "liballocmux_shim.so");

	if (mapped < 0) {
		tool_error("process %d (%s) may not be looked at: %s",
			(int)target->pid, target->name, strerror(errno));
		return TARGET_NOT_YOURS;
	}
	if (mapped == 0) {
		tool_error("process %d (%s) does not run under the shim; start "
			   "it with `allocmux run', or use `allocmux attach'",
			(int)target->pid, target->name);
		return TARGET_NO_SHIM;
	}
	tool_error("process %d (%s) has no control channel; start it with "
		   "ALLOC_CONTROL=1 (children that only fork: "
		   "ALLOC_CONTROL=fork), or use `allocmux attach'",
		(int)target->pid, target->name);
	return TARGET_NO_CHANNEL;
}

static int connect_once(const struct target *target)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	socklen_t length = offsetof(struct sockaddr_un, sun_path) + 1;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	length += (socklen_t)snprintf(addr.sun_path + 1,
		sizeof(addr.sun_path) - 1, AMUX_CONTROL_NAME,
		(int)target->inner_pid);
	if (fd >= 0 &&
		connect(fd, (const struct sockaddr *)&addr, length) != 0) {
		int saved = errno;

		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

static int connect_to(const struct target *target, int *fd)
{
	struct timeval patience = {.tv_sec = AMUX_CONTROL_TIMEOUT_MS / 1000};
	struct ucred peer;
	socklen_t size = sizeof(peer);

	*fd = -1;
	if (!is_elsewhere(target)) {
		*fd = connect_once(target);
	} else if (enter_network(target)) {
		*fd = connect_once(target);
	} else {
		tool_error("process %d (%s) is in another network name space, "
			   "which may not be entered: %s",
			(int)target->pid, target->name, strerror(errno));
		return TARGET_NOT_YOURS;
	}
	if (*fd < 0) {
		if (errno == ECONNREFUSED || errno == ENOENT) {
			return explain_silence(target);
		}
		tool_perror("cannot speak to process %d", (int)target->pid);
		return TOOL_BROKEN;
	}
	if (getsockopt(*fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
		peer.pid != target->pid) {
		tool_error("the control socket of process %d is held by "
			   "process %d",
			(int)target->pid, (int)peer.pid);
		close(*fd);
		return TOOL_BROKEN;
	}
	setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	return 0;
}

/* All that comes until the other side closes. */
static char *read_all(int fd)
{
	size_t length = 0, size = 0;
	char *text = NULL;
	ssize_t n;

	do {
		if (size - length < AMUX_CONTROL_LINE) {
			size = 2 * size + 4 * AMUX_CONTROL_LINE;
			text = tool_realloc(text, size);
		}
		n = read(fd, text + length, size - length - 1);
		length += n > 0 ? (size_t)n : 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	text[length] = '\0';
	return text;
}

/* Cut the text into lines; false if the last one is not the end of one. */
static bool answer_parse(struct answer *answer)
{
	for (char *line = answer->text, *end; *line != '\0'; line = end) {
		end = strchr(line, '\n');
		if (end == NULL) {
			return false;
		}
		*end++ = '\0';
		if (strcmp(line, "ok") == 0) {
			return true;
		}
		if (sscanf(line, "error %d", &answer->error) == 1) {
			const char *text = answer_line(line, "error");

			answer->why = strchr(text, ' ');
			answer->why = answer->why ? answer->why + 1 : text;
			return true;
		}
		answer->lines = tool_realloc(answer->lines,
			(answer->count + 1) * sizeof(*answer->lines));
		answer->lines[answer->count++] = line;
	}
	return false;
}

int channel_ask(const struct target *target, const char *command,
	const char *argument, struct answer *answer)
{
	char line[AMUX_CONTROL_LINE + 1];
	int length, status, fd;

	memset(answer, 0, sizeof(*answer));
	length = snprintf(line, sizeof(line), "%s%s%s\n", command,
		argument ? " " : "", argument ? argument : "");
	if (length > AMUX_CONTROL_LINE || strchr(line, '\n')[1] != '\0') {
		return tool_usage("the argument is too long, or has several "
				  "lines");
	}
	status = connect_to(target, &fd);
	if (status != 0) {
		return status;
	}
	if (send(fd, line, (size_t)length, MSG_NOSIGNAL) < 0 &&
		errno != EPIPE && errno != ECONNRESET) {
		tool_perror("cannot speak to process %d", (int)target->pid);
		close(fd);
		return TOOL_BROKEN;
	}
	answer->text = read_all(fd);
	close(fd);
	if (!answer_parse(answer)) {
		tool_error("process %d ended, or stopped in mid-answer",
			(int)target->pid);
		answer_free(answer);
		return TARGET_GONE;
	}
	return 0;
}

int channel_do(const struct target *target, const char *command,
	const char *argument, struct answer *answer)
{
	int status = channel_ask(target, command, argument, answer);
	const char *why;

	if (status != 0 || answer->error == 0) {
		return status;
	}
	why = answer->why;
	for (size_t i = 0; i < answer->count; i++) {
		const char *keys = answer_line(answer->lines[i], "why");

		why = keys != NULL ? answer_rest(keys, "text") : why;
	}
	tool_error("process %d: %s", (int)target->pid, why);
	status = answer->error == EPERM ? TARGET_NOT_YOURS : TOOL_FAILED;
	answer_free(answer);
	return status;
}

void answer_free(struct answer *answer)
{
	free(answer->text);
	free(answer->lines);
	memset(answer, 0, sizeof(*answer));
}

const char *answer_line(const char *line, const char *keyword)
{
	size_t length = strlen(keyword);

	return strncmp(line, keyword, length) == 0 && line[length] == ' '
		       ? line + length + 1
		       : NULL;
}

const char *answer_rest(const char *keys, const char *key)
{
	size_t length = strlen(key);

	while (keys != NULL) {
		if (strncmp(keys, key, length) == 0 && keys[length] == '=') {
			return keys + length + 1;
		}
		keys = strchr(keys, ' ');
		keys += keys != NULL;
	}
	return NULL;
}

bool answer_number(const char *keys, const char *key, uint64_t *number)
{
	const char *value = answer_rest(keys, key);
	char *end;

	if (value == NULL || *value < '0' || *value > '9') {
		return false;
	}
	*number = strtoull(value, &end, 10);
	return *end == ' ' || *end == '\0';
}
