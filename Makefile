# SPDX-License-Identifier: MIT
# The build of codspeed. `make help` lists the targets.

# ARCH=aarch64 builds for that processor, elsewhere than there with Debian's cross compiler.
HOST_ARCH := $(shell uname -m)
ARCH ?= $(HOST_ARCH)
CROSS := $(if $(filter-out $(HOST_ARCH),$(ARCH)),$(ARCH)-linux-gnu-)
BPF_ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(ARCH)))

# O=DIR builds elsewhere, with a configuration and a binary of its own.
O ?= build$(if $(CROSS),/$(ARCH))
ifeq ($(O),build)
KCONFIG_CONFIG ?= .config
OUT ?= codspeed
else
KCONFIG_CONFIG ?= $(O)/.config
OUT ?= $(O)/codspeed
endif
DEPS ?= $(O)/deps
PREFIX ?= /usr/local
VALGRIND_INCLUDE ?= /usr/include
UAPI_INCLUDE ?= $(if $(CROSS),/usr/$(ARCH)-linux-gnu,/usr)/include
UAPI_ASM_INCLUDE ?= $(if $(CROSS),$(UAPI_INCLUDE),/usr/include/$(ARCH)-linux-gnu)

# Not ?=: what the environment says about other programs' builds must not change this one.
MUSL_CC = $(if $(CROSS),$(abspath $(O))/cross/musl-gcc,musl-gcc)
CC = $(MUSL_CC)
AR = $(CROSS)ar
STRIP = $(CROSS)strip
CFLAGS = -Os
LDFLAGS = -static -no-pie -Wl,--build-id

# SANITIZE=LIST (unit tests, fuzzing) builds for this host's own libc, with checks.
ifdef SANITIZE
CFLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=$(SANITIZE) -fno-sanitize-recover=all
LDFLAGS = -fsanitize=$(SANITIZE)
endif

WARNINGS = -Wall -Wextra -Wshadow -Wundef -Wstrict-prototypes -Wmissing-prototypes -Wformat=2
# No fused multiply-add: statistics are the same to the last digit everywhere.
CODEGEN = -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -fno-pie \
	-ffp-contract=off
# The kernel's and valgrind's headers come last: musl-gcc hides /usr/include, and nothing else
# of the host's is wanted.
CPPFLAGS = -D_GNU_SOURCE -I. -I$(O)/gen -isystem $(DEPS)/include -idirafter $(O)/include
COMPILE = $(CC) -std=gnu11 $(CPPFLAGS) $(WARNINGS) $(CODEGEN) $(CFLAGS)

Q = @
say = @printf '  %-7s %s\n'
ifeq ($(V),1)
Q =
say = @:
endif

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all release install menuconfig defconfig allyesconfig allnoconfig randconfig fixtures \
	kernel-fixtures unit-programs fuzz-programs bench-programs check check-kernels check-aarch64 \
	check-integrations unit cli configs fuzz demo bench size baseline bloatcheck clean distclean \
	help FORCE

all: $(OUT) $(O)/codspeed.stripped

# Generated files are brought up to date whenever make runs, and keep their time while their
# content stays: cheaper than it looks (20 ms), and a removed source leaves nothing stale.
GOALS := $(or $(MAKECMDGOALS),all)
CONFIG_GOALS := $(filter %config,$(GOALS))
OTHER_GOALS := $(filter-out %config help clean distclean check check-kernels check-aarch64 \
	check-integrations demo,$(GOALS))
run = $(shell $(1))$(if $(filter-out 0,$(.SHELLSTATUS)),$(error $(firstword $(1)) failed))

ifneq ($(CONFIG_GOALS)$(OTHER_GOALS),)
generated := $(call run,scripts/gen-applets.sh $(O)/gen)
endif
ifneq ($(OTHER_GOALS),)
ifneq ($(CONFIG_GOALS),)
$(error run make $(CONFIG_GOALS) first, then make $(OTHER_GOALS))
endif
generated := $(call run,scripts/gen-config.sh $(O)/gen $(KCONFIG_CONFIG))
include $(O)/gen/config.mk $(O)/gen/needs.mk
endif

# --- libraries: symbol -> what scripts/deps builds, and what is linked (users before used) ---
# A new one also needs its symbol in Config.in and its header's name in scripts/gen-applets.sh.
# Unit tests and fuzz targets have their own, built from the same tarballs by their compiler and
# under its AddressSanitizer: a stray read in a library shows too, and no version differs.

DEPS-$(CONFIG_LIB_YYJSON) += yyjson
LDLIBS-$(CONFIG_LIB_YYJSON) += -lyyjson
DEPS-$(CONFIG_LIB_YAML) += libyaml
LDLIBS-$(CONFIG_LIB_YAML) += -lyaml
DEPS-$(CONFIG_LIB_BPF) += libbpf
LDLIBS-$(CONFIG_LIB_BPF) += -lbpf
DEPS-$(CONFIG_LIB_ELF) += elfutils
LDLIBS-$(CONFIG_LIB_ELF) += -lelf
DEPS-$(CONFIG_LIB_ZSTD) += zstd
LDLIBS-$(CONFIG_LIB_ZSTD) += -lzstd
DEPS-$(CONFIG_LIB_ZLIB) += zlib
LDLIBS-$(CONFIG_LIB_ZLIB) += -lz
LDLIBS-y += -lm
DEPS_STAMPS := $(DEPS-y:%=$(DEPS)/%.stamp)

# Tarballs given by hand are checked every time.
$(DEPS_STAMPS): $(DEPS)/%.stamp: scripts/deps $(if $(DEPS_DIR),FORCE) | $(O)/include/.stamp
	$(Q)CC="$(CC)" AR=$(AR) CFLAGS="$(CODEGEN) $(CFLAGS)" UAPI_INCLUDE=$(UAPI_INCLUDE) \
		UAPI_ASM_INCLUDE=$(UAPI_ASM_INCLUDE) scripts/deps -o $(DEPS) $*

# --- BPF: bpf/NAME.bpf.c -> object -> NAME.skel.h, for the one source that includes it ---

# bpf/'s own headers, libbpf's and the kernel's UAPI are all that is visible.
CLANG = clang
BPFTOOL = $(or $(shell PATH="$$PATH:/usr/sbin:/sbin"; command -v bpftool),bpftool)
BPF_COMPILE = $(CLANG) -target bpf -mcpu=v3 -O2 -g -std=gnu11 -nostdlibinc -D__TARGET_ARCH_$(BPF_ARCH) \
	-I. -isystem $(DEPS)/include -idirafter $(O)/include \
	$(filter-out -Wmissing-prototypes,$(WARNINGS)) -Wno-unused-parameter
BPF_SOURCES := $(if $(CONFIG_LIB_BPF),$(wildcard bpf/*.bpf.c))
SKELETONS := $(BPF_SOURCES:bpf/%.bpf.c=$(O)/gen/%.skel.h)
need-bpf = $(Q)command -v $(1) >/dev/null || { echo "$(1) is missing: install the package $(2) \
	(or switch MEMTRACK off, which alone is made with it)" >&2; exit 1; }

# bpftool's linker leaves out clang's debugging information and keeps BTF.
$(O)/bpf/%.bpf.o: bpf/%.bpf.c $(O)/gen/compile-bpf $(DEPS_STAMPS) | $(O)/include/.stamp
	$(say) BPF $<
	$(call need-bpf,$(CLANG),clang)
	$(call need-bpf,$(BPFTOOL),bpftool)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPF_COMPILE) $(if $(filter 1,$(WERROR)),-Werror) -MMD -MP -MT $@ -MF $(@:.o=.d) \
		-c -o $(@:.o=.tmp) $<
	$(Q)$(BPFTOOL) gen object $@ $(@:.o=.tmp) && rm $(@:.o=.tmp)

# A system header: generated code is not held to our warnings.
$(O)/gen/%.skel.h: $(O)/bpf/%.bpf.o
	$(say) SKEL $@
	$(Q)echo '#pragma GCC system_header' >$@
	$(Q)$(BPFTOOL) gen skeleton $< name $* >>$@

# --- the program ---

# Everything but main.o goes into an archive: the generated table names the main functions of
# the applets that are on, and the linker takes what follows from these. A file is left out
# only where it includes the header of a library that the configuration does not have.
have = $(if $(filter-out y,$(foreach need,$(NEEDS-$(1)),$(or $(CONFIG_$(need)),n))),,$(1))
# What is of one processor has its name at the end.
SOURCES := $(shell find core applets -name '*.c' ! -name '.*' ! -path core/main.c | LC_ALL=C sort)
SOURCES := $(filter-out $(patsubst %,\%_%.c,$(filter-out $(ARCH),x86_64 aarch64)),$(SOURCES))
OBJECTS := $(patsubst %.c,$(O)/obj/%.o,$(foreach file,$(SOURCES),$(call have,$(file))))
MAIN := $(O)/obj/core/main.o
ARCHIVE := $(O)/libcodspeed.a

# A change of flags or of the list of files is a change of a file. WERROR alters no code.
remember = $(shell mkdir -p $(dir $(1)); echo '$(2)' | cmp -s - $(1) || echo '$(2)' >$(1))
ifneq ($(OTHER_GOALS),)
remembered := $(call remember,$(O)/gen/compile,$(COMPILE)) \
	$(if $(SKELETONS),$(call remember,$(O)/gen/compile-bpf,$(BPF_COMPILE))) \
	$(call remember,$(O)/gen/link,$(LDFLAGS) $(LDLIBS-y)) \
	$(call remember,$(O)/gen/objects,$(OBJECTS))
endif

$(O)/obj/%.o: %.c $(O)/gen/compile $(DEPS_STAMPS) | $(O)/include/.stamp $(SKELETONS)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(if $(filter 1,$(WERROR)),-Werror) -MMD -MP -c -o $@ $<

ifneq ($(OTHER_GOALS),)
-include $(shell find $(O)/obj $(O)/bpf -name '*.d' 2>/dev/null)
endif

$(ARCHIVE): $(OBJECTS) $(O)/gen/objects
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcsD $@ $(OBJECTS)

$(OUT): $(MAIN) $(ARCHIVE) $(O)/gen/link
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--gc-sections -o $@ $(MAIN) $(ARCHIVE) -L$(DEPS)/lib $(LDLIBS-y)

$(O)/codspeed.stripped: $(OUT)
	$(say) STRIP $@
	$(Q)$(STRIP) -o $@ $<

# Of the host's headers only these are visible.
$(O)/include/.stamp: Makefile $(if $(CROSS),$(O)/cross/.stamp)
	$(Q)test -f $(VALGRIND_INCLUDE)/valgrind/callgrind.h || { echo "valgrind/callgrind.h is not in \
	$(VALGRIND_INCLUDE): install the package valgrind (or set VALGRIND_INCLUDE)" >&2; exit 1; }
	$(Q)test -f $(UAPI_INCLUDE)/linux/perf_event.h || { echo "linux/perf_event.h is not in \
	$(UAPI_INCLUDE): install the package linux-libc-dev (or set UAPI_INCLUDE)" >&2; exit 1; }
	$(Q)mkdir -p $(@D)/valgrind
	$(Q)ln -sfn $(VALGRIND_INCLUDE)/valgrind/valgrind.h $(@D)/valgrind/valgrind.h
	$(Q)ln -sfn $(VALGRIND_INCLUDE)/valgrind/callgrind.h $(@D)/valgrind/callgrind.h
	$(Q)ln -sfn $(UAPI_INCLUDE)/linux $(@D)/linux
	$(Q)ln -sfn $(UAPI_INCLUDE)/asm-generic $(@D)/asm-generic
	$(Q)ln -sfn $(UAPI_ASM_INCLUDE)/asm $(@D)/asm
	$(Q)touch $@

$(O)/cross/.stamp: scripts/cross
	$(say) CROSS $(@D)
	$(Q)scripts/cross $(ARCH) $(@D) && touch $@

release: $(O)/codspeed.stripped

# Links to a binary installed earlier go first: --install replaces no file it does not know.
BIN = $(DESTDIR)$(PREFIX)/bin
SHARE = $(DESTDIR)$(PREFIX)/share
install-made = $(Q)mkdir -p $(dir $(SHARE)/$(2)) && $(BIN)/codspeed $(1) >$(SHARE)/$(2)
install: release
	$(Q)for name in $$($(O)/codspeed.stripped --list); do \
		if [ $(BIN)/$$name -ef $(BIN)/codspeed ]; then rm -f $(BIN)/$$name; fi; done
	install -D -m 755 $(O)/codspeed.stripped $(BIN)/codspeed
	$(if $(CONFIG_FEATURE_INSTALL),$(BIN)/codspeed --install $(BIN))
	$(if $(CONFIG_MANUAL),$(call install-made,manual,man/man1/codspeed.1))
	$(if $(CONFIG_COMPLETION),$(call install-made,completion bash,bash-completion/completions/codspeed))
	$(if $(CONFIG_COMPLETION),$(call install-made,completion zsh,zsh/site-functions/_codspeed))
	$(if $(CONFIG_COMPLETION),$(call install-made,completion fish,fish/vendor_completions.d/codspeed.fish))

# --- configuration ---

KCONFIG = KCONFIG_CONFIG=$(KCONFIG_CONFIG) GEN_DIR=$(O)/gen
need-kconfig = @command -v $(1) >/dev/null || { \
	echo "$(1) is missing: install the package kconfig-frontends-nox" >&2; exit 1; }

menuconfig:
	$(call need-kconfig,kconfig-mconf)
	$(Q)$(KCONFIG) kconfig-mconf Config.in

defconfig allyesconfig allnoconfig:
	$(call need-kconfig,kconfig-conf)
	$(Q)$(KCONFIG) kconfig-conf -s --$(@:def%=alldef%) Config.in

# The seed is printed, so that a failure can be had again: make randconfig SEED=N
SEED ?= $(shell date +%s)
randconfig:
	$(call need-kconfig,kconfig-conf)
	$(eval seed := $(SEED))
	@echo "randconfig: SEED=$(seed)"
	$(Q)$(KCONFIG) KCONFIG_SEED=$(seed) kconfig-conf -s --randconfig Config.in

# --- tests ---

# Each fixture three ways: dynamic glibc, static glibc, static musl.
HOSTCC = $(CROSS)gcc
FIXTURE_CFLAGS = -O0 -g -D_GNU_SOURCE -idirafter $(O)/include
FIXTURES := $(patsubst tests/fixtures/%.c,$(O)/fixtures/%,$(wildcard tests/fixtures/*.c))
FIXTURE_RULE = $(Q)mkdir -p $(@D) && $(1) $(FIXTURE_CFLAGS) -o $@ $<

# musl has no contexts to switch between.
fixtures: $(FIXTURES) $(foreach fixture,$(filter-out %/heap_coroutines,$(FIXTURES)), \
	$(fixture)-static $(fixture)-musl)

$(O)/fixtures/%: tests/fixtures/%.c | $(O)/include/.stamp
	$(say) FIXTURE $@
	$(call FIXTURE_RULE,$(HOSTCC)) -lpthread

$(O)/fixtures/%-static: tests/fixtures/%.c | $(O)/include/.stamp
	$(say) FIXTURE $@
	$(call FIXTURE_RULE,$(HOSTCC) -static) -lpthread

$(O)/fixtures/%-musl: tests/fixtures/%.c | $(O)/include/.stamp
	$(say) FIXTURE $@
	$(call FIXTURE_RULE,$(MUSL_CC) -static)

# Heap fixtures also in C++ and Rust, and with the allocators that are here: NAME-ALLOCATOR.
HOSTCXX = $(CROSS)g++
comma := ,
HEAP_LINK-jemalloc = -ljemalloc
HEAP_LINK-jemalloc-a = -l:libjemalloc.a -lstdc++ -lm
HEAP_LINK-mimalloc = -lmimalloc
HEAP_LINK-tcmalloc = -ltcmalloc_minimal
HEAP_LINK-plugin = -l:libjemalloc_pic.a -Wl,--exclude-libs,ALL -Wl,-Bsymbolic
HEAP_LINK-tcmalloc-a = -l:libtcmalloc_minimal.a -lstdc++ -lm
heap-has = $(wildcard /usr/lib/$(ARCH)-linux-gnu/lib$(1))
HEAP_ALLOCATORS := $(if $(call heap-has,jemalloc.so),jemalloc) $(if $(call heap-has,jemalloc.a),jemalloc-a) \
	$(if $(call heap-has,mimalloc.so),mimalloc) $(if $(call heap-has,tcmalloc_minimal.so),tcmalloc) \
	$(if $(call heap-has,tcmalloc_minimal.a),tcmalloc-a)
HEAP_FIXTURES := heap_new heap_new-static heap_plugin.so heap_pool.so $(if $(CROSS),,$(if $(shell command -v rustc),heap_rust)) \
	$(foreach a,$(HEAP_ALLOCATORS),heap_blocks-$(a) heap_calls-$(a) heap_new-$(a)) \
	$(if $(call heap-has,jemalloc_pic.a),heap_plugin-jemalloc.so)

fixtures: $(HEAP_FIXTURES:%=$(O)/fixtures/%)

define HEAP_RULES
$(O)/fixtures/%-$(1): tests/fixtures/%.c tests/fixtures/heap.h | $(O)/include/.stamp
	$$(say) FIXTURE $$@
	$$(call FIXTURE_RULE,$$(HOSTCC)) $$(HEAP_LINK-$(1))
$(O)/fixtures/%-$(1): tests/fixtures/%.cc tests/fixtures/heap.h | $(O)/include/.stamp
	$$(say) FIXTURE $$@
	$$(call FIXTURE_RULE,$$(HOSTCXX)) $$(HEAP_LINK-$(1))
endef
$(foreach a,$(HEAP_ALLOCATORS),$(eval $(call HEAP_RULES,$(a))))

$(O)/fixtures/heap_new $(O)/fixtures/heap_new-static: tests/fixtures/heap_new.cc tests/fixtures/heap.h
	$(say) FIXTURE $@
	$(call FIXTURE_RULE,$(HOSTCXX) $(if $(filter %-static,$@),-static))

$(O)/fixtures/heap_plugin.so: tests/fixtures/heap_plugin.cc
	$(say) FIXTURE $@
	$(call FIXTURE_RULE,$(HOSTCXX) -shared -fPIC)

$(O)/fixtures/heap_pool.so: tests/fixtures/heap_pool.cc
	$(say) FIXTURE $@
	$(call FIXTURE_RULE,$(HOSTCXX) -shared -fPIC -fno-builtin -Wl$(comma)-Bsymbolic)

$(O)/fixtures/heap_plugin-jemalloc.so: tests/fixtures/heap_plugin.cc
	$(say) FIXTURE $@
	$(call FIXTURE_RULE,$(HOSTCXX) -shared -fPIC) $(HEAP_LINK-plugin)

$(O)/fixtures/heap_rust: tests/fixtures/heap_rust.rs
	$(say) FIXTURE $@
	$(Q)mkdir -p $(@D) && rustc -O -o $@ $<

# What scripts/check-kernels runs in virtual machines, of any processor.
kernel-fixtures: $(addprefix $(O)/fixtures/,heap_calls heap_calls-static heap_calls-musl heap_new \
	heap_tree-musl heap_jump-musl rights-musl)

# Unit tests and fuzz targets link what they use from the archive. main.c joins as an archive
# with its main() renamed, for code that looks into the applet table.
LIBMAIN := $(O)/libmain.a
TEST_LIBS = -Wl,--start-group $(ARCHIVE) $(LIBMAIN) -Wl,--end-group -L$(DEPS)/lib $(LDLIBS-y) -lm
unit-programs: $(patsubst tests/unit/%.c,$(O)/tests/%,$(wildcard tests/unit/test_*.c))
fuzz-programs: $(patsubst tests/fuzz/%.c,$(O)/tests/%,$(wildcard tests/fuzz/fuzz_*.c))

$(LIBMAIN): core/main.c $(O)/gen/compile $(DEPS_STAMPS) | $(O)/include/.stamp
	$(Q)mkdir -p $(O)/obj/tests
	$(Q)$(COMPILE) -Wno-missing-prototypes -Dmain=codspeed_main -MMD -MP -MT $@ -c \
		-o $(O)/obj/tests/main.o $<
	$(Q)rm -f $@ && $(AR) rcsD $@ $(O)/obj/tests/main.o

$(O)/tests/test_%: $(O)/obj/tests/unit/test_%.o $(ARCHIVE) $(LIBMAIN)
	$(say) LD $@
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -no-pie -o $@ $< $(TEST_LIBS) -lcmocka

$(O)/tests/fuzz_%: $(O)/obj/tests/fuzz/fuzz_%.o $(ARCHIVE) $(LIBMAIN)
	$(say) LD $@
	$(Q)mkdir -p $(@D) && $(CC) $(CFLAGS) $(LDFLAGS) -no-pie -fsanitize=fuzzer -o $@ $< $(TEST_LIBS)

# What the benches are made of: they are not run by the checks, but must not fall behind.
BENCH_SOURCES := $(filter-out %.bpf.c,$(if $(CONFIG_MEMTRACK),$(wildcard tests/bench/*.c)))
bench-programs: $(BENCH_SOURCES:tests/bench/%.c=$(O)/obj/tests/bench/%.o)

.SECONDARY:

CHECK = O=$(O) OUT=$(OUT) KCONFIG_CONFIG=$(KCONFIG_CONFIG) scripts/check

check:
	$(Q)scripts/setup check
	$(Q)$(CHECK) $(PARTS)

check-kernels:
	$(Q)scripts/setup kernels
	$(Q)$(CHECK) kernels

check-aarch64:
	$(Q)scripts/setup kernels
	$(Q)$(CHECK) aarch64

check-integrations:
	$(Q)scripts/setup integrations
	$(Q)$(CHECK) integrations

unit cli configs fuzz:
	$(Q)$(CHECK) $@

demo:
	$(Q)scripts/setup demo
	$(Q)$(MAKE) --no-print-directory all
	$(abspath $(OUT)) exec -m simulation -- sh -c 'seq 1 1000 | sort -n | wc -l'

bench: all $(O)/fixtures/burn $(O)/fixtures/burn-static $(O)/fixtures/burn-musl
	$(Q)rc=0; export O=$(O) CODSPEED_BIN=$(abspath $(OUT)) CLANG=$(CLANG); scripts/bench || rc=1; \
		$(if $(CONFIG_MEMTRACK),scripts/bench-memory || rc=1;) exit $$rc

# --- size ---

size: $(OUT) $(O)/codspeed.stripped
	$(Q)scripts/size-report top $(OUT)
	$(Q)scripts/size-budget default $(O)/codspeed.stripped

baseline: $(OUT)
	$(Q)scripts/size-report symbols $(OUT) >$(O)/baseline

bloatcheck: $(OUT)
	$(Q)scripts/size-report diff $(O)/baseline $(OUT)

# --- the rest ---

clean:
	rm -rf $(O)/obj $(O)/bpf $(O)/gen $(O)/include $(O)/tests $(O)/fixtures $(O)/check \
		$(O)/unit $(O)/fuzz $(O)/*.a $(O)/codspeed.stripped $(OUT)

# Also libraries, tarballs and the configuration.
distclean: clean
	rm -rf $(O) $(KCONFIG_CONFIG) $(KCONFIG_CONFIG).old

help:
	@sed -n 's/^#help//p' Makefile

#help Building
#help   all           ./codspeed, and build/codspeed.stripped to release (the default)
#help   release       build/codspeed.stripped alone
#help   install       to DESTDIR/PREFIX/bin (/usr/local), with a link for each applet; manual page
#help                 and completions to PREFIX/share
#help   clean         objects and programs; distclean: everything that was made or fetched
#help Configuring (without any of these: the defaults)
#help   menuconfig    choose what is built in; also defconfig allyesconfig allnoconfig
#help   randconfig    at random; SEED=N repeats one
#help Trying and testing
#help   demo          install what it takes, build, measure a pipeline
#help   check         install what it takes, then every test; the last line is the count
#help   unit cli configs fuzz   one part of it; FUZZ_SECONDS=N for each fuzz target
#help   check-integrations   real CodSpeed integrations, from the package registries
#help   check-kernels   memory mode on Debian's kernels, in virtual machines
#help   check-aarch64   the binary for AArch64, emulated, and memory mode with it
#help   fixtures      the programs that tests measure
#help   bench         our own cost
#help Size
#help   size          the largest symbols, and the budget
#help   baseline      remember the symbols; bloatcheck: bytes gained and lost since
#help Variables
#help   ARCH=aarch64  build for that processor, into build/aarch64
#help   O=DIR         build there, with its own configuration (DIR/.config) and binary
#help   V=1           show the commands; WERROR=1: warnings are errors
#help   CC=, CFLAGS=  the compiler (musl-gcc) and its optimisation (-Os)
#help   CLANG=, BPFTOOL=   what compiles bpf/, and makes skeletons of it
#help   DEPS_DIR=DIR  take the libraries' tarballs from there instead of fetching them
