// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/images/own_code.h"

#include <stddef.h>
#include <string.h>

static const char *own;

/* A path begins so. */
static const char *const installed[] = {
	"/lib/", "/lib64/", "/lib32/", "/usr/lib", "/usr/local/lib/", "/nix/store/", "/snap/", NULL,
};

/* A path has this in it. */
static const char *const packages[] = {
	"/site-packages/", "/dist-packages/", "/lib-dynload/", "/node_modules/", "/.cargo/", NULL,
};

/* What a file's name begins with, whoever has built it and wherever it lies. */
static const char *const runtimes[] = {
	"python",      "libpython",   "node",       "java",         "libjvm.so", "libjava.so",
	"libnio.so",   "libnet.so",   "ruby",       "libruby",      "perl",      "php",
	"lua",         "guile",       "R",          "beam.smp",     "mono",      "dotnet",
	"luajit",      "tclsh",       "wish",       "racket",       "swipl",     "pypy",
	"sbcl",        "julia",       "tarantool",  "deno",         "bun",       "libcoreclr.so",
	"libc.so",     "libc-",       "libpthread", "ld-linux",     "ld-musl",   "libstdc++.so",
	"libgcc_s.so", "liburing.so", "libssl.so",  "libcrypto.so", NULL,
};

static bool begins(const char *text, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (!strncmp(text, *prefixes, strlen(*prefixes)))
			return true;
	return false;
}

static bool contains(const char *text, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(text, *parts))
			return true;
	return false;
}

/* "python3.11", not "python-service": what follows the name is its version, or nothing. */
static bool is_runtime(const char *name)
{
	for (const char *const *row = runtimes; *row; row++) {
		size_t len = strlen(*row);

		if (!strncmp(name, *row, len) &&
		    (strchr(*row, '.') || !name[len] || strchr("0123456789.", name[len])))
			return true;
	}
	return false;
}

void own_code__add(const char *prefix)
{
	own = prefix;
}

bool own_code__is(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (own && !strncmp(path, own, strlen(own)))
		return true;
	if (*path == '[' || is_runtime(name) || contains(path, packages))
		return false;
	return !strstr(name, ".so") || !begins(path, installed);
}
