# Test programs, and the goals that are scripts.

$(results)/regress $(results)/isolation:
	@mkdir -p $@

# Unit tests see src/common, what else needs no PostgreSQL, and stand-ins for what the CPU engine uses
# of it.
unit_c = $(common_c) src/resident/fill_budget.c
unit_tests = $(patsubst test/unit/%.c,build/unit/%,$(sort $(wildcard test/unit/*.c)))
UNIT_SANITIZE = -Og -g1 -fsanitize=address,undefined -fno-sanitize-recover=all

build/unit/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(UNIT_SANITIZE) -I. -Isrc -Itest/unit/pg -D_GNU_SOURCE -ffp-contract=off \
		$(HOST_WARNINGS) -MMD -MP -c -o $@ $<

$(unit_tests): build/unit/%: build/unit/test/unit/%.o $(patsubst %.c,build/unit/%.o,$(unit_c))
	$(CC) $(UNIT_SANITIZE) -o $@ $^ -lm

# Libraries that servers load in tests, with the files of the extension that they test: from 16 on
# one library does not see another's functions.
test_modules = $(patsubst test/modules/%.c,build/modules/%.so,$(sort $(wildcard test/modules/*.c)))

build/modules/gpuagg_test_vectors.so: \
	$(patsubst %.c,%.o,$(sort $(wildcard src/spec/vector_*.c src/common/vector_*.c)) \
		src/common/decimal_quotient.c src/types/decimal.c)

# The page reader needs the whole extension.
build/modules/gpuagg_test_pages.so: $(OBJS)

$(test_modules): build/modules/%.so: test/modules/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_SL) $(CPPFLAGS) -shared -o $@ $< $(filter %.o,$^)

# The extension with switches in the rules for columns in memory, which only these files know.
rules_c = $(shell grep -l '"resident/rules.h"' src/*.c src/*/*.c)
rules_objs = $(patsubst %.c,build/rules/%.o,$(rules_c))

build/rules/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CPPFLAGS) -DGPUAGG_TEST_RULES -MMD -MP -c -o $@ $<

build/rules/gpuagg_test_rules.so: $(rules_objs) $(filter-out $(rules_c:.c=.o),$(OBJS))
	$(CC) $(CFLAGS) $(CFLAGS_SL) -shared -o $@ $^ -lm

-include $(rules_objs:.o=.d)

.PHONY: test-modules
test-modules: $(test_modules) build/rules/gpuagg_test_rules.so

# Kernel tests: the same sources on the simulated and on a real device.
kernel_test_cc = $(sort $(wildcard test/kernels/*.cc))
kernel_test_cu = $(sort $(wildcard test/kernels/*.cu))

$(SIM)/kernel_test: $(patsubst %.cc,$(SIM)/%.o,$(kernel_test_cc)) \
		$(patsubst %.cu,$(SIM)/%.cu.o,$(kernel_test_cu)) $(kernel_sim_objs)
	$(sim_link)

$(SIM)/sim_test: $(SIM)/test/kernels/sim/planted.o $(kernel_sim_objs)
	$(sim_link)

$(GPUAGGD)/%.o: %.cc $(GPUAGGD)/cuda.mk
	@mkdir -p $(@D)
	$(CXX) -std=gnu++17 $(HOST_CXXFLAGS) -fPIE $(HOST_FLAGS) -isystem $(CUDA_INCLUDE) -c -o $@ $<

$(GPUAGGD)/kernel_test: $(patsubst %.cc,$(GPUAGGD)/%.o,$(kernel_test_cc)) \
		$(patsubst %.cu,$(GPUAGGD)/%.cu.o,$(kernel_test_cu)) \
		$(filter-out $(GPUAGGD)/cuda/host/%.o,$(gpuaggd_objs))
	$(cuda_link)

# The kernels beside CUB's; on a real device alone.
kernel_bench_objs = $(patsubst %.cc,$(GPUAGGD)/%.o,$(sort $(wildcard test/bench/kernels/*.cc))) \
	$(patsubst %.cu,$(GPUAGGD)/%.cu.o,$(sort $(wildcard test/bench/kernels/*.cu)))

$(kernel_bench_objs): HOST_FLAGS += -isystem $(CUDA_INCLUDE)/cccl

$(GPUAGGD)/kernel_bench: $(kernel_bench_objs) \
		$(filter-out $(GPUAGGD)/cuda/host/%.o,$(gpuaggd_objs))
	$(cuda_link)

# One definition of each name in the kernel tests, whose files a linker joins without a word:
# only link-time optimisation compares them, of types that have a function or a variable.
odr_objs = $(patsubst %,build/odr/%.o,$(kernel_test_cc) $(kernel_test_cu) \
	$(filter-out cuda/kernels/cub.cu cuda/kernels/sort.cu,$(kernel_cu)) \
	$(filter-out %/planted.cc,$(sort $(wildcard test/kernels/sim/*.cc))) $(ODR_MORE))

build/odr/%.o: %
	@mkdir -p $(@D)
	$(CXX) -x c++ -std=gnu++17 -O0 -flto $(HOST_FLAGS) $(SIM_FLAGS) -w -c -o $@ $<

build/odr/all: $(odr_objs)
	$(CXX) -flto -O0 -Werror=odr -r -flinker-output=rel -o $@ $^

# Vector programs, compiled as the extension is.
vector_bench_objs = $(patsubst %.c,build/bench/%.o,test/bench/vector.c $(sort $(wildcard src/common/vector_*.c)))

build/bench/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(HOST_CFLAGS) -fPIC -Isrc -D_GNU_SOURCE -ffp-contract=off $(HOST_WARNINGS) \
		-MMD -MP -c -o $@ $<

build/bench/vector: $(vector_bench_objs)
	$(CC) -o $@ $^

# Tests of the device program itself, against the simulated one.
daemon_tests = $(patsubst test/daemon/%.c,$(SIM)/%,$(sort $(wildcard test/daemon/*_test.c)))

$(daemon_tests): $(SIM)/%: $(SIM)/test/daemon/%.o \
		$(patsubst %.c,$(SIM)/%.o,$(filter-out %_test.c,$(wildcard test/daemon/*.c)) $(common_c))
	$(CC) $(SIM_SANITIZE) -pthread -o $@ $(filter %.o,$^) -lm

.PHONY: odr unit-tests kernel-tests daemon-tests sanitized-tests test-programs
odr: build/odr/all
unit-tests: $(unit_tests)
kernel-tests: $(SIM)/kernel_test $(SIM)/sim_test
daemon-tests: $(daemon_tests) $(SIM)/gpuaggd-sim
# What test/check runs under SANITIZE.
sanitized-tests: kernel-tests $(SIM)/fuzz_test $(SIM)/window_test $(SIM)/gpuaggd-sim
test-programs: unit-tests kernel-tests daemon-tests

# Scripts; they call the same make again.
export MAKE PG_CONFIG WITH_CUDA CUDA_HOME CUDA_ARCHS

.PHONY: demo lint format bench fuzz memory stress postgres-suite packages plant setup gpu-bundle
setup:
	test/setup
demo:
	test/demo/run
lint:
	test/lint/run
format:
	test/lint/format --write
bench:
	test/bench/run
fuzz:
	test/fuzz/run
memory:
	test/memory/run
stress:
	test/stress/run --crash
postgres-suite:
	test/postgres/run "$(SOURCE)"
packages:
	test/packages
plant:
	test/plant
gpu-bundle:
	test/gpu/bundle

# PGXS has a check that only says that there is none.
ifneq ($(filter check,$(goals)),)
.PHONY: check
check:
	test/check
endif
