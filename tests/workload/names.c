// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program that knows what its addresses are called. It prints a line for each,
 *
 *   ADDRESS RETURNS TEXT      0x55d0c8a7f1b2 1 plain_function (names.c:57)
 *
 * RETURNS 1 for what a call returns to, TEXT as symbols__name() has it with lines and short
 * paths, inlined functions included; then "ready", and waits for the end of its input.
 *
 *   names [--library PATH]    also the function library_body() of that file
 */
#include <dlfcn.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/workload/kept.h"

static volatile unsigned work; /* behind each call, so that none becomes a jump */

KEPT static void tell(const char *name, int line)
{
	printf("%p 1 %s (names.c:%d)\n", __builtin_return_address(0), name, line);
	work++;
}

KEPT static void tell_inlined(const char *name, int line, const char *around, int call_line)
{
	printf("%p 1 %s (names.c:%d);%s (names.c:%d)\n", __builtin_return_address(0), name, line,
	       around, call_line);
	work++;
}

KEPT static void plain_function(void)
{
	tell("plain_function", __LINE__);
	work++;
}

static inline __attribute__((always_inline)) void inlined_function(int call_line)
{
	tell_inlined("inlined_function", __LINE__, "around_inlined", call_line);
	work++;
}

KEPT static void around_inlined(void)
{
	work++;
	inlined_function(__LINE__);
	work++;
}

/* As compilers of other languages name them. */
#ifdef __clang__ /* it puts the quotes itself */
#define QUOTE
#else
#define QUOTE "\""
#endif
#define CALLED(label) __asm__(QUOTE label QUOTE) KEPT __attribute__((used))

static void cpp_method(void) CALLED("_ZN3net6Client4sendEi");
static void cpp_template(void) CALLED("_ZN3net4pushISt6vectorIiSaIiEEEEvRKT_");
static void rust_legacy(void) CALLED("_ZN4demo3net4send17h0123456789abcdefE");
static void rust_v0(void) CALLED("_RNvNtCs1234_4demo3net4recv");
static void odd_name(void) CALLED("odd;name");

static void cpp_method(void)
{
	tell("net::Client::send", __LINE__);
	work++;
}

static void cpp_template(void)
{
	tell("net::push<std::vector<int, std::allocator<int> > >", __LINE__);
	work++;
}

static void rust_legacy(void)
{
	tell("demo::net::send", __LINE__);
	work++;
}

static void rust_v0(void)
{
	tell("demo::net::recv", __LINE__);
	work++;
}

static void odd_name(void)
{
	tell("odd:name", __LINE__);
	work++;
}

/* Code that is generated as the program runs, with its name where perf looks for it. */
static char names_path[64];

static void generate_code(void)
{
	char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *file;

	snprintf(names_path, sizeof(names_path), "/tmp/perf-%d.map", getpid());
	file = fopen(names_path, "w");
	if (code == MAP_FAILED || !file)
		err(1, "%s", names_path);
	fprintf(file, "%lx 40 LazyCompile:*before\n", (unsigned long)code);
	fprintf(file, "%lx 40 LazyCompile:*handle;request /app/server.js:7\n",
		(unsigned long)code + 0x40);
	fprintf(file, "%lx 40 unfinis", (unsigned long)code + 0x80);
	fclose(file);
	printf("%p 0 LazyCompile:*handle:request /app/server.js:7\n", (void *)(code + 0x41));
	printf("%p 0 [jit]\n", (void *)(code + 0x81));
}

static void tell_address(const char *what, const void *address)
{
	if (!address)
		errx(1, "no %s", what);
	printf("%p 0 %s\n", (const char *)address + 1, what);
}

static void tell_shared_code(const char *path)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD), *library;

	if (vdso && dlsym(vdso, "__vdso_clock_gettime"))
		tell_address("clock_gettime", dlsym(vdso, "__vdso_clock_gettime"));
	if (!path)
		return;
	library = dlopen(path, RTLD_NOW);
	if (!library)
		errx(1, "%s", dlerror());
	tell_address("library_body", dlsym(library, "library_body"));
}

int main(int argc, char **argv)
{
	char byte;

	plain_function();
	around_inlined();
	cpp_method();
	cpp_template();
	rust_legacy();
	rust_v0();
	odd_name();
	generate_code();
	tell_shared_code(argc == 3 && !strcmp(argv[1], "--library") ? argv[2] : NULL);
	printf("ready\n");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
	unlink(names_path);
	return 0;
}
