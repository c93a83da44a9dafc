// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/kernel/load.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "user/base/log.h"

static int libbpf_says(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level == LIBBPF_DEBUG || !log__is_verbose())
		return 0;
	return vfprintf(stderr, format, args);
}

void load__quietly(void)
{
	libbpf_set_print(libbpf_says);
}

bool load__explain(int err, const char *smaller)
{
	if (err == -EPERM)
		log__error(
			"the kernel refused the BPF programs (%s): run it with sudo, or look into the "
			"security policy (-v shows the kernel's messages)",
			strerror(-err));
	else if (err == -ENOMEM)
		log__error("the kernel has no memory for the tables: make them smaller with %s",
			   smaller);
	return err == -EPERM || err == -ENOMEM;
}
