# gpuagg: the extension (PGXS) and its device program (cuda/cuda.mk).
#
#   make, make install, make installcheck, make uninstall, make clean
#   make demo, make check          each does its own set-up on a fresh machine
#   make lint, make format, make bench, make sim
#   make plant                     sees each check fail where it should
#   make stress SECONDS=60 SEED=n  aggregates over tables that change all the time, beside core's
#   make fuzz SECONDS=60 SEED=n    random queries beside core's and exact arithmetic
#   make memory GROUPS=20000000    memory of aggregation with more groups than fit
#   make postgres-suite SOURCE=path    PostgreSQL's own regression suite, without and with gpuagg
#   make dist                      what is committed, as a distribution for PGXN, in build/
#   make packages                  Debian packages and the distribution, built and tried
#
# Variables: PG_CONFIG, DESTDIR, WITH_CUDA=auto|yes|no, CUDA_HOME, CUDA_ARCHS.

PG_CONFIG ?= pg_config
PG_CONFIG := $(PG_CONFIG)

EXTENSION = gpuagg
EXTVERSION = 0.2.0
MODULE_big = gpuagg
DATA = $(wildcard sql/$(EXTENSION)--*.sql)
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c src/*/*.c)))

# In the order of test/regress/schedule where there is one.
REGRESS_SCHEDULE = $(wildcard test/regress/schedule)
REGRESS = $(if $(REGRESS_SCHEDULE),,$(patsubst test/regress/sql/%.sql,%,$(sort $(wildcard test/regress/sql/*.sql))))
# Results go to build/, or to a new folder where whoever runs installcheck may not write there.
results := $(if $(filter installcheck,$(MAKECMDGOALS)),$(shell \
	mkdir -p build/regress build/isolation 2>/dev/null && \
	[ -w build/regress ] && [ -w build/isolation ] && echo build || mktemp -d),build)
REGRESS_OPTS = --inputdir=test/regress --outputdir=$(results)/regress \
	$(addprefix --schedule=,$(REGRESS_SCHEDULE))
REGRESS_PREP = $(results)/regress $(results)/isolation
ISOLATION = $(patsubst test/isolation/specs/%.spec,%,$(sort $(wildcard test/isolation/specs/*.spec)))
ISOLATION_OPTS = --inputdir=test/isolation --outputdir=$(results)/isolation

# Results must not depend on whether a compiler fuses a multiplication with an
# addition; in CPPFLAGS it also reaches the bitcode that JIT inlines.
PG_CPPFLAGS = -Isrc -ffp-contract=off
PG_CFLAGS = -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
SHLIB_LINK = -lm
EXTRA_CLEAN = build $(OBJS:.o=.d)

# Goals that are scripts or plain programs and work without PGXS.
script_goals = check demo lint format bench fuzz memory postgres-suite plant setup gpu-bundle \
	dist packages odr sim test-programs unit-tests kernel-tests daemon-tests sanitized-tests
goals = $(or $(MAKECMDGOALS),all)

ifneq ($(filter-out $(script_goals),$(goals)),)
PGXS := $(shell $(PG_CONFIG) --pgxs)
ifeq ($(wildcard $(PGXS)),)
$(error $(PG_CONFIG) names no PGXS: install PostgreSQL's server headers (make setup does, or says how))
endif

# Without a clang there is no bitcode, and nothing else is missing.
CLANG_FOUND := $(shell command -v \
	"$$(sed -n 's/^CLANG *= *//p' $(dir $(PGXS))../Makefile.global)" 2>/dev/null)
ifeq ($(CLANG_FOUND),)
override with_llvm = no
endif

include $(PGXS)

# Changed headers rebuild objects and bitcode.
COMPILE.c = $(CC) $(CFLAGS) -MMD -MP -MF $*.d -MT $*.o -MT $*.bc $(CPPFLAGS) -c
-include $(OBJS:.o=.d)
endif

include cuda/cuda.mk
include test/test.mk

.PHONY: dist
dist:
	@mkdir -p build
	@git archive --format=zip --prefix=$(EXTENSION)-$(EXTVERSION)/ \
		-o build/$(EXTENSION)-$(EXTVERSION).zip HEAD

.DEFAULT_GOAL = all
