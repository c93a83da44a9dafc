// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/kernel/caps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "user/base/log.h"
#include "user/base/xalloc.h"

static const struct {
	cap_value_t value;
	const char *name;
} needed_caps[] = {
	{CAP_BPF, "CAP_BPF"},
	{CAP_PERFMON, "CAP_PERFMON"},
};

static bool have_cap(cap_value_t value)
{
	cap_flag_value_t set = CAP_CLEAR;
	cap_t caps = cap_get_proc();

	if (!caps)
		return false;
	if (cap_get_flag(caps, value, CAP_EFFECTIVE, &set))
		set = CAP_CLEAR;
	cap_free(caps);
	return set == CAP_SET;
}

void caps__lacking(char *out, size_t size)
{
	bool admin = have_cap(CAP_SYS_ADMIN);
	size_t i;

	out[0] = '\0';
	for (i = 0; i < sizeof(needed_caps) / sizeof(needed_caps[0]); i++) {
		if (admin || have_cap(needed_caps[i].value))
			continue;
		if (out[0])
			strncat(out, " ", size - strlen(out) - 1);
		strncat(out, needed_caps[i].name, size - strlen(out) - 1);
	}
}

bool caps__may_look_inside(void)
{
	return have_cap(CAP_SYS_PTRACE);
}

/* Without the right all addresses read as zero; with it, those of per-CPU symbols may. */
static bool kernel_names_visible(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address = 0;
	char line[512], type = 0;

	if (!file)
		return false;
	while (type != 't' && type != 'T' && fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx %c", &address, &type) != 2)
			break;
	fclose(file);
	return (type == 't' || type == 'T') && address;
}

const char *caps__lockdown(void)
{
	FILE *file = fopen("/sys/kernel/security/lockdown", "re");
	const char *state = "none";
	char line[128] = "";

	if (!file)
		return errno == EACCES ? "not readable" : "not visible";
	if (fgets(line, sizeof(line), file)) {
		if (strstr(line, "[integrity]"))
			state = "integrity";
		else if (strstr(line, "[confidentiality]"))
			state = "confidentiality";
	}
	fclose(file);
	return state;
}

/* The coarse clock advances once a tick, so its resolution is the tick. */
unsigned caps__hz(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || !tick.tv_nsec)
		return 0;
	return (1000000000 + tick.tv_nsec / 2) / tick.tv_nsec;
}

/* Arguments of a BTF tracepoint behind its void *, -1 when it does not exist. */
static int tracepoint_arguments(const struct btf *btf, const char *name)
{
	char type_name[128];
	const struct btf_type *type;
	int id;

	snprintf(type_name, sizeof(type_name), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, type_name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -1;
	type = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
	if (!type || !btf_is_ptr(type))
		return -1;
	type = btf__type_by_id(btf, type->type);
	return type && btf_is_func_proto(type) ? btf_vlen(type) - 1 : -1;
}

static int function_arguments(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
	const struct btf_type *type;

	if (id < 0)
		return -1;
	type = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
	return type && btf_is_func_proto(type) ? btf_vlen(type) : -1;
}

static bool hook_exists(const struct btf *btf, const struct hook *hook)
{
	int arguments;

	if (hook->kind == HOOK_RUN || hook->kind == HOOK_CLOCK)
		return true;
	arguments = hook->kind == HOOK_TRACEPOINT ? tracepoint_arguments(btf, hook->name)
						  : function_arguments(btf, hook->name);
	if (arguments < 0 || arguments < hook->arguments)
		return false;
	return !hook->exactly || arguments == hook->exactly;
}

static uint64_t existing_variants(const struct btf *btf)
{
	uint64_t found = 0;
	size_t i;
	int j;

	for (i = 0; i < plan_variant_count; i++) {
		bool all = true;

		for (j = 0; j < VARIANT_HOOKS && plan_variants[i].hooks[j].program; j++)
			all = all && hook_exists(btf, &plan_variants[i].hooks[j]);
		if (all)
			found |= 1ull << i;
	}
	return found;
}

/* A program that does nothing, of the type in question, attached for a moment. 0, or an errno. */
static int try_tracing(enum bpf_attach_type attach, int btf_id)
{
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach,
		    .attach_btf_id = btf_id);
	int program, link, err;

	if (btf_id < 0)
		return ENOENT;
	program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "netstall_probe", "Dual BSD/GPL", nothing, 2,
				&opts);
	if (program < 0)
		return errno;
	link = bpf_raw_tracepoint_open(NULL, program);
	err = link < 0 ? errno : 0;
	close(program);
	if (link >= 0)
		close(link);
	return err;
}

static bool kprobe_attaches(const char *function, bool *paranoid)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	unsigned type;
	FILE *file = fopen("/sys/bus/event_source/devices/kprobe/type", "re");
	int fd, count;

	if (!file)
		return false;
	count = fscanf(file, "%u", &type);
	fclose(file);
	if (count != 1)
		return false;
	attr.type = type;
	attr.kprobe_func = (uintptr_t)function;
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	/* Above 2, which Debian and Ubuntu added and preset, CAP_PERFMON is not enough for it. */
	*paranoid = fd < 0 && errno == EACCES;
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

#define CLOCK_HZ 99

int caps__open_clock(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = CLOCK_HZ,
		.freq = 1,
		.exclude_idle = 1,
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool clocks_open(void)
{
	int fd = caps__open_clock(0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Programs, links and maps of a session, and files to be read beside them. */
#define MOST_FILES 512

/* Can so many more be open at once? 0, or the errno of the one that could not. */
static int try_files(void)
{
	int files[MOST_FILES], count, err = 0;

	for (count = 0; count < MOST_FILES && !err; count++) {
		files[count] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
		err = files[count] < 0 ? errno : 0;
	}
	while (count--)
		if (files[count] >= 0)
			close(files[count]);
	return err;
}

static bool in_own_user_namespace(void)
{
	const ino_t first_namespace = 0xeffffffd; /* PROC_USER_INIT_INO, include/linux/proc_ns.h */
	struct stat st;

	return !stat("/proc/self/ns/user", &st) && st.st_ino != first_namespace;
}

static bool is_same(const struct btf *one, const struct btf *other)
{
	uint32_t size, other_size;
	const void *data = btf__raw_data(one, &size),
		   *other_data = btf__raw_data(other, &other_size);

	return data && other_data && size == other_size && !memcmp(data, other_data, size);
}

/* Programs made for other types than the kernel's would read its memory in wrong places. */
static const char *what_is_wrong(const char *path, const struct btf *kernels)
{
	struct btf *file;
	struct stat st;
	bool same;

	if (stat(path, &st) || access(path, R_OK))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "no file";
	file = btf__parse(path, NULL);
	if (!file)
		return "no types (BTF) in it";
	same = is_same(file, kernels);
	btf__free(file);
	return same ? NULL : "the types (BTF) of another kernel";
}

static void check_btf_file(struct caps *caps, const char *path, const struct btf *kernels)
{
	const char *wrong = what_is_wrong(path, kernels);

	if (wrong)
		snprintf(caps->bad_btf, sizeof(caps->bad_btf),
			 "-C btf=%.200s: %s; leave it out, and this kernel's own types are used",
			 path, wrong);
}

static struct {
	struct bpf_object *object; /* that is being loaded, until its types are looked at */
	bool lacks_types;
	char program[NS_REFUSED_LEN];
	char table[NS_REFUSED_LEN];
	char needs[NS_REFUSED_LEN]; /* the table that the program needs and that is not there */
} said;

/* "prog 'NAME': ..." and "map 'NAME': ...", behind the library's own name. */
static void note_name(const char *text, const char *kind, char *out, size_t size)
{
	const char *name = strstr(text, kind),
		   *end = name ? strchr(name + strlen(kind), '\'') : NULL;

	if (end)
		snprintf(out, size, "%.*s", (int)(end - name - strlen(kind)), name + strlen(kind));
}

/* Did the kernel get the functions that the verifier goes through once, and not at each call? */
static bool has_global_functions(int fd)
{
	struct bpf_btf_info info = {0};
	__u32 size = sizeof(info);
	bool found = false;
	struct btf *btf;
	void *types;

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return false;
	types = xcalloc(1, info.btf_size);
	info = (struct bpf_btf_info){.btf = (uintptr_t)types, .btf_size = info.btf_size};
	size = sizeof(info);
	if (!bpf_obj_get_info_by_fd(fd, &info, &size)) {
		btf = btf__new(types, info.btf_size);
		for (__u32 i = 1; btf && i < btf__type_cnt(btf) && !found; i++)
			found = btf_is_func(btf__type_by_id(btf, i)) &&
				btf_vlen(btf__type_by_id(btf, i)) == BTF_FUNC_GLOBAL;
		btf__free(btf);
	}
	free(types);
	return found;
}

/*
 * libbpf tries what kernels may lack, goes on without what was refused just then, for want of
 * memory say, and tells nobody; without its functions' types a program is more than the verifier
 * takes, which gives up after ten seconds. So as soon as the object has its types, they are looked
 * at, and none of it is loaded that would fail.
 */
static void look_at_types(void)
{
	struct bpf_program *program;
	struct bpf_map *map;
	bool has_tables = false; /* they are made behind the types, and before the programs */

	if (!said.object)
		return;
	bpf_object__for_each_map(map, said.object) has_tables |= bpf_map__fd(map) >= 0;
	if (!has_tables)
		return;
	said.lacks_types = !has_global_functions(bpf_object__btf_fd(said.object));
	bpf_object__for_each_program(program, said.object)
	{
		if (said.lacks_types)
			bpf_program__set_autoload(program, false);
	}
	said.object = NULL;
}

/* Its own and the verifier's words, of many lines, are for -v alone. */
static int libbpf_says(enum libbpf_print_level level, const char *format, va_list args)
{
	char *text;

	look_at_types();
	if (level == LIBBPF_DEBUG)
		return 0;
	text = xvasprintf(format, args);
	if (level == LIBBPF_WARN) {
		note_name(text, "libbpf: prog '", said.program, sizeof(said.program));
		note_name(text, "libbpf: map '", said.table, sizeof(said.table));
		note_name(text, "\nBPF map '", said.needs, sizeof(said.needs));
	}
	if (log__is_verbose())
		fputs(text, stderr);
	free(text);
	return 0;
}

void caps__before_load(struct bpf_object *object)
{
	memset(&said, 0, sizeof(said));
	said.object = object;
}

void caps__after_load(void)
{
	said.object = NULL;
}

bool caps__lacks_types(void)
{
	return said.lacks_types;
}

/* A table first: all are made before the first program is loaded. */
bool caps__refused_in_load(int err, struct ns_refused *out)
{
	bool table = !said.program[0] || said.needs[0];

	*out = (struct ns_refused){.step = table ? NS_REFUSED_TABLE : NS_REFUSED_LOAD,
				   .error = (uint32_t)-err};
	memcpy(out->program, said.program, sizeof(out->program));
	memcpy(out->table, said.program[0] ? said.needs : said.table, sizeof(out->table));
	return out->program[0] || out->table[0];
}

void caps__hear_libbpf(void)
{
	libbpf_set_print(libbpf_says);
}

struct btf *caps__probe(struct caps *caps, const char *btf_path)
{
	bool admin = have_cap(CAP_SYS_ADMIN);
	struct btf *btf;

	memset(caps, 0, sizeof(*caps));
	caps__hear_libbpf();
	caps->refused = try_files();
	btf = btf__load_vmlinux_btf();
	if (!btf || libbpf_get_error(btf)) {
		if (!caps->refused && !access("/sys/kernel/btf/vmlinux", R_OK))
			caps->refused = ESRCH;
		return NULL;
	}
	caps->btf = true;
	if (btf_path)
		check_btf_file(caps, btf_path, btf);
	caps->may_load = admin || (have_cap(CAP_BPF) && have_cap(CAP_PERFMON));
	caps->userns = in_own_user_namespace();
	caps->lockdown = !strcmp(caps__lockdown(), "confidentiality");
	caps->variants = existing_variants(btf);
	/* Its data for each CPU: from 7.0 on what runs at tracepoints is guarded by that alone. */
	caps->preempted =
		btf__find_by_name_kind(btf, "tracepoint_srcu_srcu_data", BTF_KIND_VAR) > 0;
	/* With it came iterators that may sleep: dd2ea6e1bbe8 and before (5.18). */
	caps->copies = btf__find_by_name_kind(btf, "bpf_copy_from_user_task", BTF_KIND_FUNC) > 0;
	/* fba1a1c6c912 (6.1); before, memory is not to be had in any context. */
	caps->grows = btf__find_by_name_kind(btf, "bpf_mem_alloc", BTF_KIND_STRUCT) > 0;
	caps->uring = tracepoint_arguments(btf, "io_uring_create") >= 0;
	if (!caps->may_load || caps->refused)
		return btf;
	caps->refused =
		try_tracing(BPF_TRACE_RAW_TP, btf__find_by_name_kind(btf, "btf_trace_sched_waking",
								     BTF_KIND_TYPEDEF));
	caps->tracepoints = !caps->refused;
	caps->trampolines = !try_tracing(
		BPF_TRACE_FENTRY,
		btf__find_by_name_kind(btf, "tcp_delack_timer_handler", BTF_KIND_FUNC));
	caps->kprobes = kprobe_attaches("tcp_delack_timer_handler", &caps->perf_paranoid);
	caps->clocks = clocks_open();
	caps->kernel_names = kernel_names_visible();
	return btf;
}

void caps__free_btf(struct btf *btf)
{
	btf__free(btf);
}
