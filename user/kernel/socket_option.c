// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/kernel/socket_option.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "bpf/prove.h"
#include "prove.skel.h"
#include "user/base/helper.h"
#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/kernel/caps.h"

#define HELPER_MS 1000 /* for it to restore, and end */

/* Each network namespace has names of its own; this one goes when nobody has it open. */
#define LOCK_NAME "\0netstall-prove"

const struct socket_option_change socket_option__nodelay = {"TCP_NODELAY", IPPROTO_TCP, TCP_NODELAY,
							    1};

struct socket_option {
	const struct socket_option_change *change;
	struct prove_bpf *skel;
	struct bpf_link *link;
	uint32_t netns;
	int helper; /* its socket */
	pid_t helper_pid;
};

/* ---- in the helper ---- */

/* All sockets of the namespace pass by. */
static int run(int link_fd)
{
	char text[64];
	ssize_t got;
	int fd = bpf_iter_create(link_fd);

	if (fd < 0)
		return -errno;
	while ((got = read(fd, text, sizeof(text))) > 0 || (got < 0 && errno == EINTR))
		;
	got = got < 0 ? -errno : 0;
	close(fd);
	return (int)got;
}

static int add(const struct socket_option *option, const struct ns_prove_key *key)
{
	struct ns_prove_socket none = {0};

	return bpf_map_update_elem(bpf_map__fd(option->skel->maps.sockets), key, &none, BPF_ANY)
		       ? -errno
		       : 0;
}

/* Here, and read back by getsockopt(). */
static int expect(const struct socket_option *option, int socket, const struct ns_prove_key *key,
		  int value)
{
	int fd = bpf_map__fd(option->skel->maps.sockets), err = run(bpf_link__fd(option->link));
	struct ns_prove_socket seen;
	socklen_t size = sizeof(value);
	int got = 0;

	if (!err && bpf_map_lookup_elem(fd, key, &seen))
		err = -errno;
	if (err || seen.err)
		return err ? err : seen.err;
	if (getsockopt(socket, option->change->level, option->change->option, &got, &size))
		return -errno;
	return !got == !value ? 0 : -EOPNOTSUPP;
}

/* On and off, on a socket of ours that listens at a port of the loopback device, to nobody. */
static int try_it(const struct socket_option *option)
{
	int fd = bpf_map__fd(option->skel->maps.sockets);
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int own = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), err = 0, yes = 1;
	struct ns_prove_key key = {.family = AF_INET};

	/* Also where that device is down. */
	if (own < 0 || setsockopt(own, IPPROTO_IP, IP_FREEBIND, &yes, sizeof(yes)) ||
	    bind(own, (struct sockaddr *)&address, size) || listen(own, 1) ||
	    getsockname(own, (struct sockaddr *)&address, &size)) {
		err = -errno;
	} else {
		key.lport = ntohs(address.sin_port);
		key.laddr[0] = address.sin_addr.s_addr;
		err = add(option, &key);
	}
	for (int on = 1; !err && on >= 0; on--) {
		option->skel->bss->on = (__u32)on;
		err = expect(option, own, &key, on ? option->change->value : 0);
	}
	bpf_map_delete_elem(fd, &key);
	if (own >= 0)
		close(own);
	return err;
}

/* For as long as the descriptor is open. */
static int lock(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = LOCK_NAME};
	socklen_t size = offsetof(struct sockaddr_un, sun_path) + sizeof(LOCK_NAME) - 1;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&name, size))
		return errno == EADDRINUSE ? -EBUSY : -errno;
	return 0;
}

static void tell(int socket, int err)
{
	while (send(socket, &err, sizeof(err), MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

/* It goes through the sockets at each word, and restores when nobody else has the other end. */
static void be_helper(struct socket_option *option, int netns)
{
	int err = netns >= 0 && setns(netns, CLONE_NEWNET) ? -errno : try_it(option);
	ssize_t got;
	char word;

	helper__settle("sockopt-restore", option->helper, bpf_link__fd(option->link), false);
	if (!err)
		err = lock(); /* it stays open */
	tell(HELPER_SOCKET, err);
	if (err)
		_exit(1);
	while ((got = recv(HELPER_SOCKET, &word, 1, 0)) > 0 || (got < 0 && errno == EINTR))
		if (got > 0)
			tell(HELPER_SOCKET, run(HELPER_ALSO));
	option->skel->bss->on = 0;
	_exit(run(HELPER_ALSO) ? 1 : 0);
}

/* ---- beside it ---- */

static int hear(const struct socket_option *option)
{
	ssize_t got;
	int err;

	do
		got = recv(option->helper, &err, sizeof(err), 0);
	while (got < 0 && errno == EINTR);
	return got == sizeof(err) ? err : -EPIPE;
}

/* The caller's. */
static char *refusal_text(const struct socket_option_change *change, int err)
{
	if (err == -EBUSY)
		return xasprintf(
			"cannot change %s of running sockets: another netstall prove changes some "
			"in this network namespace; let it end first",
			change->name);
	if (err == -EPERM || err == -EACCES)
		return xasprintf(
			"cannot change %s of running sockets: %s; run it as root, and see whether "
			"a security module or lockdown refuses BPF (netstall doctor)",
			change->name, strerror(-err));
	return xasprintf(
		"cannot change %s of running sockets: this kernel has no BPF iterator "
		"over TCP sockets that may (%s); it takes Linux 6.1 or later, as a rule",
		change->name, strerror(-err));
}

/* The namespace's descriptor, -1: it is ours. */
static int open_netns(struct socket_option *option, pid_t pid, int *fd)
{
	struct stat own, other;
	char path[64];

	*fd = -1;
	if (stat("/proc/self/ns/net", &own))
		return -errno;
	option->netns = (uint32_t)own.st_ino;
	if (!pid)
		return 0;
	print_to(path, "/proc/%d/ns/net", pid);
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0 && errno == ENOENT)
		return 0; /* there is no such process, and the session says so */
	if (*fd < 0 || fstat(*fd, &other))
		return -errno;
	option->netns = (uint32_t)other.st_ino;
	if (own.st_ino == other.st_ino) {
		close(*fd);
		*fd = -1;
	}
	return 0;
}

static int start_helper(struct socket_option *option, pid_t pid)
{
	int netns, err = open_netns(option, pid, &netns);

	if (err)
		return err;
	option->helper_pid = helper__fork(SOCK_SEQPACKET, &option->helper);
	if (!option->helper_pid)
		be_helper(option, netns);
	err = option->helper_pid < 0 ? option->helper_pid : hear(option);
	if (netns >= 0)
		close(netns);
	return err;
}

/* Also where it fails *out is to be freed. */
static int load(const struct socket_option_change *change, struct socket_option **out)
{
	struct socket_option *option = *out = xcalloc(1, sizeof(*option));
	int err;

	caps__hear_libbpf();
	*option = (struct socket_option){.change = change, .skel = prove_bpf__open(), .helper = -1};
	if (!option->skel)
		return -errno;
	*(__s32 *)&option->skel->rodata->option_level = change->level;
	*(__s32 *)&option->skel->rodata->option_name = change->option;
	*(__s32 *)&option->skel->rodata->option_value = change->value;
	err = prove_bpf__load(option->skel);
	if (err)
		return err;
	option->link = bpf_program__attach_iter(option->skel->progs.set, NULL);
	return option->link ? 0 : -errno;
}

char *socket_option__why_not(const struct socket_option_change *change)
{
	struct socket_option *option;
	int err = load(change, &option);

	if (!err)
		err = try_it(option);
	socket_option__free(option);
	return err ? refusal_text(change, err) : NULL;
}

int socket_option__open(const struct socket_option_change *change, pid_t pid,
			struct socket_option **out)
{
	int err = load(change, out);
	char *why;

	if (!err)
		err = start_helper(*out, pid);
	if (!err)
		return 0;
	why = refusal_text(change, err);
	log__error("%s", why);
	free(why);
	socket_option__free(*out);
	*out = NULL;
	return err;
}

int socket_option__add(struct socket_option *option, const struct ns_conn *conn)
{
	struct ns_prove_key key = {
		.family = conn->family, .lport = conn->lport, .rport = conn->rport};

	memcpy(key.laddr, conn->laddr, sizeof(key.laddr));
	memcpy(key.raddr, conn->raddr, sizeof(key.raddr));
	return add(option, &key);
}

/* The helper goes through the sockets. */
static int go_through(const struct socket_option *option)
{
	char word = 0;

	return send(option->helper, &word, 1, MSG_NOSIGNAL) < 0 ? -errno : hear(option);
}

int socket_option__add_service(struct socket_option *option, const struct ns_conn *conn)
{
	struct prove_bpf__bss *bss = option->skel->bss;
	int err;

	bss->service = (struct ns_prove_service){.port = conn->lport, .family = conn->family};
	memcpy(bss->service.addr, conn->laddr, sizeof(bss->service.addr));
	bss->looks = 1;
	err = go_through(option);
	bss->looks = 0;
	if (!err && !bss->service.listeners)
		err = -ENOENT;
	if (!err &&
	    (bss->service.set_by_own || bss->service.before == (uint32_t)option->change->value))
		err = -EALREADY;
	if (err)
		bss->service.port = 0;
	return err;
}

/* The next one that was changed. */
static bool next(const struct socket_option *option, struct ns_prove_key *key, bool *is_first,
		 struct ns_prove_socket *socket)
{
	int fd = bpf_map__fd(option->skel->maps.sockets);

	while (!bpf_map_get_next_key(fd, *is_first ? NULL : key, key)) {
		*is_first = false;
		if (!bpf_map_lookup_elem(fd, key, socket))
			return true;
	}
	return false;
}

int socket_option__set(struct socket_option *option, bool on)
{
	struct ns_prove_socket socket;
	struct ns_prove_key key;
	bool is_first = true;
	int err;

	option->skel->bss->on = on;
	err = go_through(option);
	if (!err)
		err = option->skel->bss->service.err;
	while (!err && next(option, &key, &is_first, &socket))
		err = socket.err;
	return err;
}

size_t socket_option__set_before(const struct socket_option *option)
{
	struct ns_prove_socket socket;
	struct ns_prove_key key;
	bool is_first = true;
	size_t count = 0;

	while (next(option, &key, &is_first, &socket))
		count += socket.cookie && socket.before == (__u32)option->change->value;
	return count;
}

uint32_t socket_option__netns(const struct socket_option *option)
{
	return option->netns;
}

int socket_option__free(struct socket_option *option)
{
	int err = 0;

	if (!option)
		return 0;
	if (option->helper_pid > 0)
		err = socket_option__set(option, false);
	if (err == -ESTALE)
		err = 0; /* what the program has set itself, it keeps */
	if (option->helper >= 0)
		close(option->helper); /* it restores once more, which changes nothing */
	if (option->helper_pid > 0)
		helper__end(option->helper_pid, HELPER_MS);
	bpf_link__destroy(option->link);
	prove_bpf__destroy(option->skel);
	free(option);
	return err;
}
