// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/symbols/demangle.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <libiberty/demangle.h>

/* A name of a few bytes can stand for one of terabytes: substitutions double it again and again. */
#define MANGLED_MOST 2048
#define WRITTEN_MOST 4096

struct target {
	char *out;
	size_t size, used;
	size_t written; /* with what did not fit */
	jmp_buf enough;
};

static void take(const char *text, size_t len, void *context)
{
	struct target *target = context;
	size_t room = target->size - 1 - target->used, some = len < room ? len : room;

	memcpy(target->out + target->used, text, some);
	target->used += some;
	target->written += len;
	if (target->written > WRITTEN_MOST)
		longjmp(target->enough, 1);
}

/* False: it is no mangled name. */
static int write_demangled(const char *name, char *out, size_t size)
{
	struct target target = {.out = out, .size = size};
	int done;

	if (setjmp(target.enough)) {
		out[target.used] = '\0';
		return 1;
	}
	done = rust_demangle_callback(name, 0, take, &target);
	if (!done && name[0] == '_' && name[1] == 'Z') {
		target.used = target.written = 0;
		done = cplus_demangle_v3_callback(name, DMGL_NO_OPTS, take, &target);
	}
	out[target.used] = '\0';
	return done && target.used;
}

void demangle__clean(char *text)
{
	for (; *text; text++) {
		if (*text == ';')
			*text = ':';
		else if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
	}
}

char *demangle(const char *name, char *out, size_t size)
{
	size_t len = strnlen(name, MANGLED_MOST), version = len;

	if (len == MANGLED_MOST || name[0] != '_' || !write_demangled(name, out, size)) {
		if (len < MANGLED_MOST && strcspn(name, "@"))
			version = strcspn(name, "@");
		snprintf(out, size, "%.*s", (int)version, name);
	}
	demangle__clean(out);
	return out;
}

void demangle__at(const char *name, uint64_t offset, char *out, size_t size)
{
	size_t used = strlen(demangle(name, out, size < DEMANGLE_NAME ? size : DEMANGLE_NAME));

	snprintf(out + used, size - used, "+0x%llx", (unsigned long long)offset);
}
