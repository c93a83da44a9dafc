// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/recorded.h"

#include <errno.h>
#include <sys/utsname.h>
#include <time.h>

#include "user/process/report_file.h"

static int open_file(struct recorded *recorded, const char *path)
{
	*recorded = (struct recorded){.path = path};
	if (!path)
		return 0;
	recorded->file = report_file__open(path);
	return recorded->file ? 0 : -EIO;
}

static const char *host_name(struct utsname *uts)
{
	return uname(uts) ? "" : uts->nodename;
}

int recorded__open(struct recorded *recorded, const char *path, const char *host)
{
	struct utsname uts;
	int err = open_file(recorded, path);

	if (!err && path)
		recorded->writer = recording__begin(recorded->file, host ? host : host_name(&uts),
						    NETSTALL_VERSION, (uint64_t)time(NULL));
	return err;
}

int recorded__open_last(struct recorded *recorded, const char *path, uint64_t last_ns,
			uint64_t most_bytes)
{
	struct utsname uts;
	int err = open_file(recorded, path);

	recorded->last = true;
	recorded->writer = recording__begin_last(host_name(&uts), NETSTALL_VERSION,
						 (uint64_t)time(NULL), last_ns, most_bytes);
	return err;
}

void recorded__finish(struct recorded *recorded)
{
	if (recorded->last && recorded->writer && recorded->file)
		recording__save(recorded->writer, recorded->file);
	recording__end(recorded->writer);
	recorded->writer = NULL;
}

int recorded__close(struct recorded *recorded)
{
	recorded__finish(recorded);
	return recorded->file ? report_file__close(recorded->file, recorded->path, 0) : 0;
}
