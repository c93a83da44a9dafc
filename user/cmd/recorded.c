// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/recorded.h"

#include <errno.h>
#include <sys/utsname.h>
#include <time.h>

#include "user/process/report_file.h"

int recorded__open(struct recorded *recorded, const char *path, const char *host)
{
	struct utsname uts = {.nodename = ""};

	*recorded = (struct recorded){.path = path};
	if (!path)
		return 0;
	recorded->file = report_file__open(path);
	if (!recorded->file)
		return -EIO;
	uname(&uts);
	recorded->writer = recording__begin(recorded->file, host ? host : uts.nodename,
					    NETSTALL_VERSION, (uint64_t)time(NULL));
	return 0;
}

int recorded__close(struct recorded *recorded)
{
	recording__end(recorded->writer);
	return recorded->path ? report_file__close(recorded->file, recorded->path, 0) : 0;
}
