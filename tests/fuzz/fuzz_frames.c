// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * libFuzzer: any bytes as an ELF file that this process has mapped as code, for the callers of a
 * stack that is full of addresses in it: its call frame information says where they are.
 * libFuzzer options: -max_len=65536 -malloc_limit_mb=1024 -rss_limit_mb=6144
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "bpf/state.h"
#include "tests/fuzz/elf_input.h"
#include "user/symbols/unwind.h"

#define STACK 4096
#define BASE  0x7ffc00000000ull

static struct file_broker *broker;

/*
 * libdw 0.188 (expr_eval() of libdwfl/frame_unwind.c) forgets 256 B at a frame whose expression has
 * an operation that it does not know: corpus/frames/unknown-operation. What is ours to give back,
 * tests/unit/symbols watches without this.
 */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libdw.so\n";
}

/* Callers in the file, each with a frame pointer to the next one's. */
static void fill_stack(uint64_t stack[STACK / 8], uint64_t code, size_t size)
{
	for (size_t i = 0; i < STACK / 8; i++)
		stack[i] = i & 1 ? code + i * 97 % size : BASE + i * 8 + 32;
}

static void unwind_from(struct unwinder *unwinder, uint64_t code, size_t size, uint64_t at)
{
	uint64_t stack[STACK / 8];
	__u64 regs[NS_REG_COUNT];
	const struct unwind_copy copy = {.regs = regs,
					 .stack = (const unsigned char *)stack,
					 .stack_len = sizeof(stack),
					 .base = BASE};
	struct unwind_frames frames;

	fill_stack(stack, code, size);
	for (int i = 0; i < NS_REG_COUNT; i++)
		regs[i] = BASE + 64 + i * 8;
	regs[NS_REG_IP] = code + at;
	if (!unwinder__frames(unwinder, getpid(), &copy, &frames) &&
	    (!frames.count || frames.count > UNWIND_FRAMES))
		abort();
}

/* libdwfl knows files by their names. */
static void unwind_file(const char *path, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *code = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	struct unwinder *unwinder = unwinder__new(broker);

	close(fd);
	if (code == MAP_FAILED)
		abort();
	for (size_t at = 0; at < size; at += size / 16 + 1)
		unwind_from(unwinder, (uint64_t)code, size, at);
	unwinder__free(unwinder);
	munmap(code, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/dev/shm/netstall-fuzz-XXXXXX";
	int fd;

	if (!size)
		return 0;
	if (!broker)
		broker = file_broker__new();
	fd = mkstemp(path);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	unwind_file(path, size);
	unlink(path);
	return 0;
}
