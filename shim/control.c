/* SPDX-License-Identifier: MIT */
/*
 * control.c - see control.h.
 *
 * Invariants:
 *   - nobody is answered before may_command() has said yes;
 *   - the thread accepts on a descriptor only while it is our socket: programs
 *     close descriptors they do not know (daemon(3)-like loops) and may get the
 *     number back for a socket of their own.
 * Locks: g.lock around start and stop.
 */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

#include <allocmux/control.h>

#include "base/compiler.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/os.h"
#include "base/syscall.h"
#include "commands.h"
#include "config.h"

enum {
	/* Enough for dlopen(3) and a library's constructors. */
	STACK_SIZE = 256 * 1024,
	/* Descriptors below are for the program, which may count on them. */
	LOWEST_FD = 200,
	/* What an unmapped user looks like in a user namespace. */
	OVERFLOW_UID = 65534,
	BACKLOG = 4,
};

static struct {
	struct lock lock;
	bool running;         /* sync: lock; the thread exists */
	bool stopping;        /* sync: lock; it is to end */
	_Atomic int listener; /* sync: atomic; -1 if there is none */
	uint64_t inode;       /* sync: the thread's; of the listener */
	_Atomic int client;   /* sync: atomic; -1 if there is none */
} g = {.lock = LOCK_INIT(0), .listener = -1, .client = -1};

static uint64_t inode_of(int fd)
{
	struct stat info;

	return fd >= 0 && sys2(SYS_fstat, fd, &info) == 0 ? info.st_ino : 0;
}

/* Out of the way of the program's own descriptors, where that is possible. */
static int move_up(int fd)
{
	long up = sys3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, LOWEST_FD);

	if (sys_failed(up)) {
		return fd;
	}
	sys1(SYS_close, fd);
	return (int)up;
}

/* 0, or an errno value. */
static int open_listener(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	size_t len = offsetof(struct sockaddr_un, sun_path) + 1;
	long fd, err;

	len += log_format(addr.sun_path + 1, sizeof(addr.sun_path) - 1,
		AMUX_CONTROL_NAME, os_getpid());
	fd = sys3(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sys_failed(fd)) {
		return (int)-fd;
	}
	err = sys3(SYS_bind, fd, &addr, len);
	if (err == 0) {
		err = sys2(SYS_listen, fd, BACKLOG);
	}
	if (err) {
		sys1(SYS_close, fd);
		return (int)-err;
	}
	fd = move_up((int)fd);
	g.inode = inode_of((int)fd);
	store_relaxed(&g.listener, (int)fd);
	return 0;
}

/* Is every user of the system a user here, so that no id stands for many? */
static bool all_users_are_mapped(void)
{
	char map[128];

	return os_read_file("/proc/self/uid_map", map, sizeof(map)) > 0 &&
	       strstr(map, " 4294967295") != NULL;
}

static bool has_capabilities(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	return sys2(SYS_capget, &header, data) != 0 || data[0].permitted ||
	       data[1].permitted;
}

/*
 * Who may command may run code here (a backend is a library), so the rule is
 * ptrace(2)'s, made stricter where the peer cannot be looked at: root, or the
 * one user that this process is by all three of its ids, if it has no
 * capabilities and has not been marked as keeping secrets (dumpable).
 */
static bool may_command(const struct ucred *peer)
{
	uid_t real, effective, saved;

	if (peer->uid == 0) {
		return true;
	}
	if (sys3(SYS_getresuid, &real, &effective, &saved) != 0 ||
		peer->uid != real || peer->uid != effective ||
		peer->uid != saved) {
		return false;
	}
	if (peer->uid == OVERFLOW_UID && !all_users_are_mapped()) {
		return false;
	}
	return sys1(SYS_prctl, PR_GET_DUMPABLE) == 1 && !has_capabilities();
}

static void write_line(void *arg, const char *line, size_t len)
{
	int fd = *(const int *)arg;

	while (len) {
		long n = sys6(SYS_sendto, fd, line, len, MSG_NOSIGNAL, NULL, 0);

		if (n == -EINTR) {
			continue;
		}
		if (n <= 0) {
			return; /* the client is gone, or too slow */
		}
		line += n;
		len -= (size_t)n;
	}
}

/* Bytes up to and with the first newline, or what there was. */
static size_t read_line(int fd, char *line, size_t size)
{
	size_t len = 0;

	while (len < size && (len == 0 || line[len - 1] != '\n')) {
		long n =
			sys6(SYS_recvfrom, fd, line + len, size - len, 0, 0, 0);

		if (n == -EINTR) {
			continue;
		}
		if (n <= 0) {
			break;
		}
		len += (size_t)n;
	}
	return len;
}

static void serve_client(int fd)
{
	struct timeval patience = {.tv_sec = AMUX_CONTROL_TIMEOUT_MS / 1000};
	struct reply reply = {.write = write_line, .arg = &fd};
	struct ucred peer;
	socklen_t size = sizeof(peer);
	char line[AMUX_CONTROL_LINE];

	sys6(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
		sizeof(patience), 0);
	sys6(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
		sizeof(patience), 0);
	if (sys6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &size,
		    0) != 0 ||
		!may_command(&peer)) {
		reply_end(&reply, EPERM, "not the user of this process");
		return;
	}
	request_run(line, read_line(fd, line, sizeof(line)), &reply);
}

static bool is_ours(int fd)
{
	return fd >= 0 && inode_of(fd) == g.inode;
}

static void close_listener(void)
{
	int fd = load_relaxed(&g.listener);

	if (is_ours(fd)) {
		sys1(SYS_close, fd);
	}
	store_relaxed(&g.listener, -1);
}

/* After a failed accept: false if there is no going on. */
static bool recover(long err)
{
	static const struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};

	if (!is_ours(load_relaxed(&g.listener)) || err == -EINVAL) {
		/* Closed behind our back, or shut down by control_stop(). */
		close_listener();
		return open_listener() == 0;
	}
	sys2(SYS_nanosleep, &pause, NULL); /* no descriptor left, or the like */
	return true;
}

/* Is the thread to end? Then it counts as ended before the lock is free. */
static bool must_end(bool cannot_go_on)
{
	bool end;

	lock_acquire(&g.lock);
	end = g.stopping || cannot_go_on;
	if (end) {
		close_listener();
		g.running = false;
	}
	lock_release(&g.lock);
	return end;
}

static void *serve(void *arg)
{
	bool lost = false;

	sys2(SYS_prctl, PR_SET_NAME, "allocmux");
	while (!must_end(lost)) {
		int listener = load_relaxed(&g.listener);
		long fd = -EBADF;

		if (is_ours(listener)) {
			fd = sys4(SYS_accept4, listener, NULL, NULL,
				SOCK_CLOEXEC);
		}
		if (sys_failed(fd)) {
			lost = !recover(fd);
			continue;
		}
		store_relaxed(&g.client, (int)fd);
		serve_client((int)fd);
		store_relaxed(&g.client, -1);
		sys1(SYS_close, fd);
	}
	return NULL;
}

/*
 * All signals are blocked but those that the C library sends its own threads
 * (setuid and cancellation): with these blocked, setuid(2) would wait for ever.
 */
static uint64_t block_signals(void)
{
	const uint64_t internal = (uint64_t)7 << 31; /* 32, 33, musl's 34 */
	uint64_t mask = ~internal, before = 0;

	sys4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof(mask));
	return before;
}

static int create_thread(pthread_t *thread)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err) {
		return err;
	}
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	err = pthread_create(thread, &attr, serve, NULL);
	if (err == EINVAL) { /* a program with more static TLS than that */
		pthread_attr_destroy(&attr);
		pthread_attr_init(&attr);
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		err = pthread_create(thread, &attr, serve, NULL);
	}
	pthread_attr_destroy(&attr);
	return err;
}

static int start_locked(void)
{
	pthread_t thread;
	uint64_t mask;
	int err;

	g.stopping = false;
	if (g.running) {
		return 0;
	}
	err = open_listener();
	if (err) {
		return err;
	}
	mask = block_signals();
	err = create_thread(&thread);
	sys4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
	if (err) {
		close_listener();
	}
	g.running = err == 0;
	return err;
}

int control_start(void)
{
	int err;

	lock_acquire(&g.lock);
	err = start_locked();
	lock_release(&g.lock);
	return err;
}

void control_stop(void)
{
	lock_acquire(&g.lock);
	if (g.running) {
		g.stopping = true;
		sys2(SYS_shutdown, load_relaxed(&g.listener), SHUT_RDWR);
	}
	lock_release(&g.lock);
}

static void start_or_say_why(void)
{
	int err = control_start();

	if (err == EADDRINUSE) {
		log_line("no control channel: another process holds the "
			 "socket @" AMUX_CONTROL_NAME,
			os_getpid());
	} else if (err) {
		log_line("no control channel: error %d", err);
	}
}

void control_start_if_asked(void)
{
	if (strcmp(config_string(OPTION_CONTROL), "0") != 0) {
		start_or_say_why();
	}
}

/* The thread exists in the parent only; its sockets are here too. */
void control_postfork_child(void)
{
	int client = load_relaxed(&g.client);
	bool was_running = g.running;

	lock_init(&g.lock, 0);
	close_listener();
	if (client >= 0) {
		sys1(SYS_close, client);
	}
	store_relaxed(&g.client, -1);
	g.running = false;
	if (was_running && !strcmp(config_string(OPTION_CONTROL), "fork")) {
		start_or_say_why();
	}
}
