# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# netstall. `make help` says what there is. Everything is built below build/.

VERSION := 0.1.0
RELEASED := November 28, 2026
COMMIT ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null)
PREFIX ?= /usr/local
CC ?= gcc
CLANG ?= clang
BPFTOOL ?= $(shell command -v bpftool 2>/dev/null || echo /usr/sbin/bpftool)
PKG_CONFIG ?= pkg-config
HOST := $(shell uname -m | sed -e s/x86_64/x86/ -e s/aarch64/arm64/)
ARCH := $(HOST)
MACHINE := $(patsubst x86,x86_64,$(ARCH:arm64=aarch64))
OTHER := $(filter-out $(HOST),$(ARCH))# the machine that is compiled for, where it is another one
B := build$(OTHER:%=/%)
K := $(B)# of the kernel side, which is the same for every compiler and sanitizer
STRIP := strip
OBJCOPY := objcopy

# `make ARCH=arm64`, on another machine: Debian's cross compiler, and the libraries of an arm64 root.
ifeq ($(OTHER),arm64)
ROOT := $(or $(NETSTALL_VM_CACHE),$(CURDIR)/build/vm)/arm64-root
ROOT_MADE := $(ROOT)/netstall-packages
CC := aarch64-linux-gnu-gcc --sysroot=$(ROOT)
STRIP := aarch64-linux-gnu-strip
OBJCOPY := aarch64-linux-gnu-objcopy
PKG_CONFIG := env PKG_CONFIG_SYSROOT_DIR=$(ROOT) PKG_CONFIG_LIBDIR=$(ROOT)/usr/lib/aarch64-linux-gnu/pkgconfig pkg-config
endif

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n' '$(1)' '$(patsubst $(B)/%,%,$(2))'
MAKEFLAGS += --no-print-directory
endif

ifeq ($(SAN),1)
B := build/san
SANFLAGS := -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=undefined,float-cast-overflow -fno-omit-frame-pointer
endif

# For libFuzzer, which is clang's: `make fuzz` builds so.
ifeq ($(FUZZ),1)
B := build/fuzz
CC := $(CLANG)
SANFLAGS := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -O1
endif

# `make static` builds so. Where its folder is does not show in what it makes.
ifeq ($(STATIC),1)
B := build/static$(OTHER:%=-%)
CFLAGS := -O2 -g -ffunction-sections -fdata-sections -ffile-prefix-map=$(CURDIR)=.
LDFLAGS += -static -Wl,--gc-sections -Wl,--build-id=sha1
STATICFLAGS := -DNETSTALL_STATIC
endif

CFLAGS ?= -O2 -g
ALL_CFLAGS := -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	$(CFLAGS) $(SANFLAGS) $(STATICFLAGS) -D_GNU_SOURCE -DNETSTALL_VERSION='"$(VERSION)"' -I. -I$(K) -MMD -MP
BPF_CFLAGS := -g -O2 -ffile-prefix-map=$(CURDIR)=. -target bpf -D__TARGET_ARCH_$(ARCH) -Wall -Wextra -Wno-unused-parameter \
	-Ivmlinux -I. -MMD -MP

PURE_LIBS = $(shell $(PKG_CONFIG) --libs jansson zlib) -lm
TOOL_LIBS = $(shell $(PKG_CONFIG) $(if $(STATIC),--static) --libs libbpf libdw libelf libcap) -liberty $(PURE_LIBS)

# The pure library: no kernel, no libbpf. The tests link it alone, which keeps it so.
sources = $(sort $(shell find $(addprefix user/,$(1)) -name '*.c'))
PURE_SRCS := $(call sources,base record model analyze explain render check) user/kernel/container.c user/kernel/plan.c user/source/stack_ids.c
TOOL_SRCS := $(filter-out $(PURE_SRCS) $(if $(STATIC),,user/symbols/no_debuginfod.c),$(call sources,kernel symbols source process demo cmd))
PURE_OBJS := $(PURE_SRCS:%.c=$(B)/%.o)
TOOL_OBJS := $(TOOL_SRCS:%.c=$(B)/%.o)
SKELS := $(patsubst bpf/%.bpf.c,$(K)/%.skel.h,$(wildcard bpf/*.bpf.c))

UNIT_TESTS := $(patsubst %.c,$(B)/%,$(shell find tests/unit -name 'test_*.c'))
WORKLOAD := $(B)/tests/workload/exchange
SITES := $(addprefix $(B)/tests/workload/,callsites callsites-stripped callsites_library.so callsites-lines callsites-apart)
REFUSE := $(B)/tests/workload/refuse.so
# Workloads of one file each.
WORKLOADS := $(addprefix $(B)/tests/workload/,holds wire pingpong waits losses forwarder httpd handover connections orphans bulk requests)
# One program, with and without frame pointers, and without the machine's libraries.
NOFP := $(addprefix $(B)/tests/workload/,nofp nofp-fp nofp-static)
URING := $(B)/tests/workload/uring
URING_WORKLOADS := $(URING) $(B)/tests/workload/ring_waits
NAMES := $(addprefix $(B)/tests/workload/,names names-link names-crc names-mini names-bare)
SCENE := $(B)/tests/scenarios/scene
RANDOM := $(B)/tests/random/random
RENDER_TRACE := $(B)/tests/golden/render_trace
RENDER_CHECK := $(B)/tests/golden/check/render_check

.PHONY: all
all: $(B)/netstall

$(B)/netstall: $(TOOL_OBJS) $(B)/libnetstall.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS)

$(B)/libnetstall.a: $(PURE_OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

# A header that is missing is named with what brings it, before the compiler stops at it.
hash := \#
needs = $(foreach header,$(1),echo '$(hash)include <$(header)>' | $(CC) -E -x c - >/dev/null 2>&1 || \
	{ echo '$(header) is missing: `sudo scripts/deps.sh $(2)` installs what Debian 12 lacks; other names of it: README.md, "Build and test"' >&2; exit 1; };)
$(B)/has-build: | $(ROOT_MADE)
	$(Q)$(call needs,stdio.h linux/bpf.h bpf/libbpf.h elfutils/libdwfl.h gelf.h zlib.h sys/capability.h jansson.h libiberty/demangle.h,build)
	$(Q)for tool in $(firstword $(CLANG)) $(BPFTOOL); do command -v $$tool >/dev/null || \
		{ echo "$$tool is missing: \`sudo scripts/deps.sh build\` installs what Debian 12 lacks" >&2; exit 1; }; done
	$(Q)$(PKG_CONFIG) --atleast-version=1.1 libbpf || \
		{ echo "libbpf is $$($(PKG_CONFIG) --modversion libbpf), and 1.1 is the least: build on Debian 12 or later; what \`make static\` makes there runs on older ones too" >&2; exit 1; }
	$(Q)mkdir -p $(@D) && touch $@
$(B)/has-test: $(B)/has-build
	$(Q)$(call needs,cmocka.h liburing.h,test)
	$(Q)touch $@

$(B)/tests/%.o: tests/%.c | $(B)/has-test
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -c -o $@ $<

$(B)/%.o: %.c | $(B)/has-build
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -c -o $@ $<

ifneq ($(ROOT_MADE),)
$(ROOT_MADE):
	$(Q)scripts/deps.sh build arm64 && scripts/arm64-root.sh
endif

# The one file that names the commit is made anew with it.
$(B)/user/cmd/main.o: $(B)/commit
$(B)/user/cmd/main.o: ALL_CFLAGS += -DNETSTALL_COMMIT='"$(if $(COMMIT), ($(COMMIT)))"'
$(B)/user/cmd/generate.o: ALL_CFLAGS += -DNETSTALL_RELEASED='"$(RELEASED)"'
.PHONY: FORCE
$(B)/commit: FORCE
	$(Q)mkdir -p $(@D) && echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' >$@

# It embeds them (.incbin), which the compiler does not tell make.
$(B)/user/render/profile/svg_page.o: user/render/profile/flamegraph.js user/render/profile/flamegraph.css
$(B)/user/render/html/html.o: user/render/html/page.html user/render/html/page.js

# What may include a skeleton.
$(patsubst %.c,$(B)/%.o,$(call sources,kernel source)): $(SKELS)

$(K)/%.bpf.o: bpf/%.bpf.c
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D) && $(CLANG) $(BPF_CFLAGS) -c -o $@ $<

# Nothing is removed for being a step on the way.
.SECONDARY:
$(K)/%.skel.h: $(K)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen object $(K)/$*.linked.o $< && \
		$(BPFTOOL) gen skeleton $(K)/$*.linked.o name $*_bpf >$@.new && mv $@.new $@

# ---- tests ----

.PHONY: test check unit golden live vmtest bench fuzz
$(B)/tests/unit/%: $(B)/tests/unit/%.o $(B)/libnetstall.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(PURE_LIBS) -lcmocka -lm

# What unwinds user stacks needs no kernel side.
UNWIND_OBJS := $(patsubst %.c,$(B)/%.o,$(filter-out user/symbols/no_debuginfod.c,$(call sources,symbols))) $(B)/user/source/call_queue.o $(B)/user/kernel/privileges.o
SYMBOL_TESTS := $(filter $(B)/tests/unit/symbols/%,$(UNIT_TESTS))
$(SYMBOL_TESTS): $(B)/%: $(B)/%.o $(UNWIND_OBJS) $(B)/libnetstall.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(TOOL_LIBS) -lcmocka

$(SYMBOL_TESTS): | $(NAMES) $(SITES) $(B)/tests/workload/bulk

# What opens files as the caller.
REPORT_OBJS := $(patsubst %,$(B)/user/%.o,process/report_file process/as_caller kernel/privileges)
$(B)/tests/unit/process/test_report_file: $(B)/%: $(B)/%.o $(REPORT_OBJS) $(B)/libnetstall.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(TOOL_LIBS) -lcmocka

$(B)/tests/unit/cmd/test_flight: $(B)/%: $(B)/%.o $(B)/user/cmd/flight.o $(B)/user/process/writer.o $(REPORT_OBJS) $(B)/libnetstall.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(TOOL_LIBS) -lcmocka

# The world that the oracle knows.
SIMULATOR_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard tests/unit/analyze/simulator/*.c))
$(B)/tests/unit/analyze/test_oracle: $(B)/%: $(B)/%.o $(SIMULATOR_OBJS) $(B)/libnetstall.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(PURE_LIBS) -lcmocka -lm

# Of the demo's workload, the parts that are pure.
$(B)/tests/unit/demo/test_workload: $(B)/%: $(B)/%.o $(B)/user/demo/script.o $(B)/user/demo/summary.o $(B)/libnetstall.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(PURE_LIBS) -lcmocka

$(RENDER_TRACE) $(RENDER_CHECK): $(B)/%: $(B)/%.o $(B)/libnetstall.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(PURE_LIBS) -lm

$(WORKLOAD): $(B)/tests/workload/exchange.o $(B)/tests/workload/exchange_options.o $(patsubst %.c,$(B)/%.o,$(wildcard user/demo/*.c)) $(B)/libnetstall.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(PURE_LIBS)

$(WORKLOADS): $(B)/%: $(B)/%.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(WORKLOAD_LIBS)

$(B)/tests/workload/bulk: WORKLOAD_LIBS := -lz

$(B)/tests/workload/ring_waits: $(B)/tests/workload/ring_waits.o
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ -luring -lpthread

$(URING): $(patsubst %.c,$(B)/%.o,$(wildcard tests/workload/uring*.c))
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(shell $(PKG_CONFIG) --libs liburing) -lpthread

$(SCENE): $(patsubst %.c,$(B)/%.o,$(wildcard tests/scenarios/*.c))
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ -lpthread

$(RANDOM): $(patsubst %.c,$(B)/%.o,$(wildcard tests/random/*.c))
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(shell $(PKG_CONFIG) --libs liburing) -lpthread

# As most programs are built: optimised, without frame pointers. One keeps its symbols, one does not.
SITES_CFLAGS := -I. -std=gnu11 -Wall -Wextra -O2 -fomit-frame-pointer -D_GNU_SOURCE -fpie
$(B)/tests/workload/callsites: tests/workload/callsites.c tests/workload/kept.h
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SITES_CFLAGS) -pie -o $@ $< -ldl -lpthread
$(B)/tests/workload/callsites-stripped: $(B)/tests/workload/callsites
	$(Q)$(STRIP) -o $@ $<
# With debug information, and with that in a file that is found by the build-id alone.
$(B)/tests/workload/callsites-lines: tests/workload/callsites.c tests/workload/kept.h
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SITES_CFLAGS) -g -Wl,--build-id -pie -o $@ $< -ldl -lpthread
$(B)/tests/workload/callsites-apart: $(B)/tests/workload/callsites-lines
	$(Q)$(OBJCOPY) --only-keep-debug $< $@.debug && $(STRIP) -o $@ $<
$(B)/tests/workload/callsites_library.so: tests/workload/callsites_library.c tests/workload/kept.h
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SITES_CFLAGS) -fpic -shared -o $@ $<

$(REFUSE): tests/workload/refuse.c
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) -std=gnu11 -Wall -Wextra -O2 -D_GNU_SOURCE -fpic -shared -o $@ $<

NOFP_CFLAGS := -I. -std=gnu11 -Wall -Wextra -O2 -D_GNU_SOURCE -fexceptions
$(B)/tests/workload/nofp: NOFP_CFLAGS += -fomit-frame-pointer
$(B)/tests/workload/nofp-fp: NOFP_CFLAGS += -fno-omit-frame-pointer
$(B)/tests/workload/nofp-static: NOFP_CFLAGS += -fomit-frame-pointer -static
$(NOFP): tests/workload/nofp.c tests/workload/kept.h
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(NOFP_CFLAGS) -o $@ $< -lpthread

# A program that knows its addresses' names: with debug information; stripped, with that in a file beside it, known by a build-id
# or a checksum; stripped, with the names of functions alone in .gnu_debugdata; and with nothing.
NAMES_CFLAGS := -I. -std=gnu11 -Wall -Wextra -Wno-attributes -O2 -g -D_GNU_SOURCE
$(B)/tests/workload/names: tests/workload/names.c tests/workload/kept.h
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(NAMES_CFLAGS) -Wl,--build-id -o $@ $< -ldl
$(B)/tests/workload/names-crc.whole: tests/workload/names.c tests/workload/kept.h
	$(Q)mkdir -p $(@D) && $(CC) $(NAMES_CFLAGS) -Wl,--build-id=none -o $@ $< -ldl
$(B)/tests/workload/names-link: $(B)/tests/workload/names
	$(Q)$(OBJCOPY) --only-keep-debug $< $@.debug && $(STRIP) -o $@ $< && cd $(@D) && $(OBJCOPY) --add-gnu-debuglink=$(@F).debug $(@F)
$(B)/tests/workload/names-crc: $(B)/tests/workload/names-crc.whole
	$(Q)$(OBJCOPY) --only-keep-debug $< $@.debug && $(STRIP) -o $@ $< && cd $(@D) && $(OBJCOPY) --add-gnu-debuglink=$(@F).debug $(@F)
$(B)/tests/workload/names-mini.whole: tests/workload/names.c tests/workload/kept.h
	$(Q)mkdir -p $(@D) && $(CC) $(NAMES_CFLAGS) -no-pie -o $@ $< -ldl
$(B)/tests/workload/names-mini: $(B)/tests/workload/names-mini.whole
	$(Q)nm --format=posix --defined-only $< | awk '$$2 ~ /[tT]/ { print $$1 }' >$@.keep
	$(Q)$(OBJCOPY) --only-keep-debug $< $@.debug && \
		$(OBJCOPY) -S --remove-section .comment --keep-symbols=$@.keep $@.debug $@.small && xz -f $@.small && \
		$(STRIP) -o $@ $< && $(OBJCOPY) --add-section .gnu_debugdata=$@.small.xz $@ && rm $@.debug $@.keep
$(B)/tests/workload/names-bare: $(B)/tests/workload/names
	$(Q)$(STRIP) -o $@ $<

# All tests; root. Prints "N passed, N failed, N skipped" as its last line.
test:
	$(Q)scripts/deps.sh build test fuzz vm
	$(Q)tests/run.sh all

# And all that is left out there: hours.
.PHONY: nightly
nightly:
	$(Q)scripts/deps.sh build test fuzz vm deb image roots arm64
	$(Q)tests/run.sh nightly

# The part without root.
check:
	$(Q)tests/run.sh pure

.PHONY: live-programs test-programs
live-programs: all $(WORKLOAD) $(WORKLOADS) $(URING_WORKLOADS) $(SITES) $(NOFP) $(REFUSE)
test-programs: live-programs $(UNIT_TESTS) $(RENDER_TRACE) $(RENDER_CHECK) $(SCENE) $(RANDOM) $(NAMES)

unit golden live: test-programs
	$(Q)tests/run.sh $@

# What documents and schemas say of causes, facts and losses, from their rows.
.PHONY: docs
docs: $(B)/tests/unit/analyze/test_cause $(SCENE)
	$(Q)scripts/docs.py $(B)

# How often the right cause is named, of scenarios that know it; root. tests/scenarios/README.md
.PHONY: score
score: test-programs
	$(Q)tests/scenarios/score.sh

# Plants faults, and asks which test finds them: some 40 minutes; root.
.PHONY: mutants
mutants: test-programs
	$(Q)nice tests/mutants.sh

# How often `netstall check` is wrong, idle and with every CPU busy; root.
RUNS ?= 50
.PHONY: reliability
reliability: test-programs
	$(Q)tests/check/reliability.sh --runs $(RUNS)

# Does it hold out? Half an hour of churn; root. A short one is a live case.
SOAK_SECONDS ?= 1800
.PHONY: soak
soak: test-programs
	$(Q)SOAK_SECONDS=$(SOAK_SECONDS) tests/soak.sh

KERNEL ?=
vmtest: test-programs
	$(Q)tests/vm/run.sh $(KERNEL)

# tests/fuzz/run.sh; each fuzzer runs for so many seconds.
SECONDS_EACH ?= 60
fuzz:
	$(Q)FUZZ_SECONDS=$(SECONDS_EACH) tests/run.sh fuzz

# Of FUZZ=1.
.PHONY: fuzzers
FUZZERS := $(patsubst %.c,$(B)/%,$(wildcard tests/fuzz/fuzz_*.c))
fuzzers: $(FUZZERS) $(B)/tests/fuzz/records_of
$(FUZZERS): FUZZER := -fsanitize=fuzzer
$(FUZZERS) $(B)/tests/fuzz/records_of: $(B)/%: $(B)/%.o $(UNWIND_OBJS) $(B)/libnetstall.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(FUZZER) -o $@ $^ $(TOOL_LIBS)

bench: all $(WORKLOAD) $(URING)
	$(Q)scripts/deps.sh bench
	$(Q)tests/bench/run.sh
	$(Q)tests/bench/check_time.sh
	$(Q)tests/bench/switch_cost.sh
	$(Q)tests/bench/replay.sh
	$(Q)tests/bench/uring_cost.sh

# ---- one file for any host ----

# One file without a library, stripped; what was stripped is in the .debug beside it.
STATIC_FILE := build/netstall-$(VERSION)-linux-$(MACHINE)
STATIC_BUILT := static$(OTHER:%=-%)/netstall
.PHONY: static
static:
	$(Q)$(MAKE) STATIC=1 build/$(STATIC_BUILT)
	$(call say,STRIP,$(STATIC_FILE))
	$(Q)$(OBJCOPY) --only-keep-debug build/$(STATIC_BUILT) $(STATIC_FILE).debug
	$(Q)cd build && $(OBJCOPY) --strip-debug --add-gnu-debuglink=$(notdir $(STATIC_FILE)).debug $(STATIC_BUILT) $(notdir $(STATIC_FILE))

# That file as a container image, for podman load, docker load and skopeo.
.PHONY: image
image: static
	$(Q)scripts/deps.sh image
	$(Q)COMMIT='$(COMMIT)' scripts/oci-image.sh $(STATIC_FILE) $(VERSION) build/netstall-$(VERSION)-oci$(OTHER:%=-%).tar

# ---- packages ----

# What is committed, with the same bytes each time.
DIST := build/netstall-$(VERSION).tar.gz
.PHONY: dist deb
dist:
	$(Q)mkdir -p build && git archive --prefix=netstall-$(VERSION)/ HEAD | gzip -9n >$(DIST)

# Of that, in a folder of its own. Debian's tool leaves its results beside the sources.
deb: dist
	$(Q)scripts/deps.sh build deb
	$(Q)rm -rf build/deb && mkdir -p build/deb && tar -xzf $(DIST) -C build/deb
	$(Q)cp -R scripts/debian build/deb/netstall-$(VERSION)/debian
	$(Q)cd build/deb/netstall-$(VERSION) && dpkg-buildpackage -us -uc -b >../log 2>&1 || { tail -n 20 ../log; exit 1; }
	$(Q)cd build/deb && lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs *.changes
	$(Q)ls build/deb/*.deb

# ---- demo, install, help ----

.PHONY: demo install uninstall format clean help
demo:
	$(Q)scripts/deps.sh build
	$(Q)$(MAKE) -j2 all
	$(Q)$(B)/netstall demo

# Manual pages and completions, of the rows of help.
SHARE := $(DESTDIR)$(PREFIX)/share
COMMAND_NAMES := trace record report check prove offwake doctor demo
PAGES := $(B)/man/netstall.1 $(COMMAND_NAMES:%=$(B)/man/netstall-%.1)
.PHONY: man
man: $(PAGES) $(addprefix $(B)/man/completion.,bash zsh fish)
$(B)/man/netstall.1: $(B)/netstall
	$(Q)mkdir -p $(@D) && $(B)/netstall generate man >$@
$(B)/man/netstall-%.1: $(B)/netstall
	$(Q)mkdir -p $(@D) && $(B)/netstall generate man $* >$@
$(B)/man/completion.%: $(B)/netstall
	$(Q)mkdir -p $(@D) && $(B)/netstall generate $* >$@

STRIP ?= strip --strip-debug
# Stripped, with the names of its own functions. What help and documents point to comes along.
install: all man
	install -D -m 755 $(B)/netstall $(DESTDIR)$(PREFIX)/bin/netstall
	$(STRIP) $(DESTDIR)$(PREFIX)/bin/netstall
	install -d $(SHARE)/man/man1 $(SHARE)/doc/netstall
	install -m 644 $(PAGES) $(SHARE)/man/man1
	install -D -m 644 $(B)/man/completion.bash $(SHARE)/bash-completion/completions/netstall
	install -D -m 644 $(B)/man/completion.zsh $(SHARE)/zsh/vendor-completions/_netstall
	install -D -m 644 $(B)/man/completion.fish $(SHARE)/fish/vendor_completions.d/netstall.fish
	install -m 644 README.md LICENSE NEWS.md SECURITY.md $(SHARE)/doc/netstall
	cp -R docs scripts/bt $(SHARE)/doc/netstall

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/netstall $(addprefix $(SHARE)/man/man1/,$(notdir $(PAGES)))
	rm -f $(SHARE)/bash-completion/completions/netstall $(SHARE)/zsh/vendor-completions/_netstall
	rm -f $(SHARE)/fish/vendor_completions.d/netstall.fish
	rm -rf $(SHARE)/doc/netstall

format:
	clang-format -i $$(git ls-files '*.c' '*.h' | grep -v '^vmlinux/')

clean:
	rm -rf $(filter-out build/vm,$(wildcard build/*))

help:
	@echo 'sudo make demo     install what is missing, build, show one stall live'
	@echo 'sudo make test     install what is missing, build, test: of the live cases a fourth, on each day another'
	@echo 'make               build build/netstall'
	@echo 'sudo make nightly  all tests, in four nights every way of every suite on each kernel and all with'
	@echo '                   sanitizers, fuzzers for a minute each, a hundred new random programs, a soak'
	@echo 'make check         the tests that need no root'
	@echo 'make docs          what documents list of causes, facts and losses, from their rows'
	@echo 'make unit golden live   one part of the tests (live needs root)'
	@echo 'make vmtest KERNEL=6.1  tests on other kernels, in a VM; on all without KERNEL=, with NETSTALL_NIGHT=all'
	@echo '                        every suite by every way'
	@echo 'make score         name the causes of labelled scenarios, and compare (root)'
	@echo 'make reliability   how often check is wrong, of RUNS=50 runs each (root)'
	@echo 'make mutants       plant some 80 faults, one at a time, and see which test finds each (root)'
	@echo 'make soak          trace for SOAK_SECONDS=1800 while all comes and goes, and compare at the end (root)'
	@echo 'make bench         what tracing costs, against other tools (root)'
	@echo 'make fuzz          feed every reader of foreign bytes with random ones, each for SECONDS_EACH=60'
	@echo 'make static        $(STATIC_FILE): one file for any host, without a library (ARCH=arm64 too)'
	@echo 'make image         build/netstall-$(VERSION)-oci.tar: that file as a container image'
	@echo 'make dist deb      the sources in one file; a package for Debian and what is made of it'
	@echo 'make install       to PREFIX=/usr/local, below DESTDIR; and uninstall'
	@echo 'make format        clang-format all sources'
	@echo 'V=1 shows commands, SAN=1 builds with ASan and UBSan below build/san'

# Not of a BPF object that is gone: it would ask for its source.
-include $(SKELS:.skel.h=.bpf.d) $(shell find $(B) \( -path $(B)/deb -o -path $(B)/vm \) -prune -o -type f -name '*.d' ! -name '*.bpf.d' -print 2>/dev/null)
