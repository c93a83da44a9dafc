// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A static file is linked with these in place of libdwfl's own functions, which load a library at
 * run time to ask a server for debug files: nothing is asked for over the network, nor loaded.
 */
#include <elfutils/libdwfl.h>
#include <errno.h>

int __libdwfl_debuginfod_find_executable(Dwfl *dwfl, const unsigned char *id, size_t size);
int __libdwfl_debuginfod_find_debuginfo(Dwfl *dwfl, const unsigned char *id, size_t size);
void __libdwfl_debuginfod_end(void *client);

int __libdwfl_debuginfod_find_executable(Dwfl *dwfl, const unsigned char *id, size_t size)
{
	(void)dwfl, (void)id, (void)size;
	return -ENOSYS;
}

int __libdwfl_debuginfod_find_debuginfo(Dwfl *dwfl, const unsigned char *id, size_t size)
{
	(void)dwfl, (void)id, (void)size;
	return -ENOSYS;
}

debuginfod_client *dwfl_get_debuginfod_client(Dwfl *dwfl)
{
	(void)dwfl;
	return NULL;
}

void __libdwfl_debuginfod_end(void *client)
{
	(void)client;
}
