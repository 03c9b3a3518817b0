# gpuaggd, the device program, and gpuaggd-sim, the same on a simulated device.
#
# What cuda/probe found out is kept in $(GPUAGGD)/cuda.mk: WITH_CUDA_FOUND, NVCC,
# CUDA_LIB, CUDA_INCLUDE, CUDA_GENCODE, CUDA_ARCHS_FOUND.  Objects depend on
# it, so that other architectures or another toolkit rebuild them.
#
# CUDA_DRAFT=yes compiles the device program as fast as nvcc can, to see that it
# compiles, in a folder of its own; all and install leave it alone.

WITH_CUDA ?= auto
CUDA_HOME ?=
CUDA_ARCHS ?=
CUDA_DRAFT ?=
SANITIZE ?=

GPUAGGD = build/gpuaggd$(if $(CUDA_DRAFT),-draft)

ifneq ($(filter-out clean distclean installcheck uninstall $(script_goals),$(goals)),)
cuda_probe := $(shell cuda/probe '$(WITH_CUDA)' '$(CUDA_HOME)' '$(CUDA_ARCHS)' $(GPUAGGD)/cuda.mk)
include $(GPUAGGD)/cuda.mk
ifeq ($(WITH_CUDA_FOUND),error)
$(error $(cuda_probe))
endif
ifneq ($(filter gpuaggd $(if $(CUDA_DRAFT),,all install),$(goals)),)
$(info $(cuda_probe))
endif
endif

HOST_CFLAGS ?= -O2 -g
HOST_CXXFLAGS ?= -O2 -g
HOST_WARNINGS = -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers
HOST_FLAGS = -I. -Isrc -Icuda -DGPUAGG_HOST_PROGRAM -D_GNU_SOURCE -ffp-contract=off \
	-fstack-protector-strong -pthread $(HOST_WARNINGS) -MMD -MP
NVCC_OPTIMISE = -O3
ifneq ($(CUDA_DRAFT),)
NVCC_OPTIMISE = -O0 $(and $(NVCC),$(shell $(NVCC) --help | grep -q Ofast-compile && echo -Ofc=max))
endif
NVCC_FLAGS = $(NVCC_OPTIMISE) -std=c++17 -fmad=false -lineinfo -Xfatbin=-compress-all -I. -Isrc -Icuda -MMD -MP \
	-Xcompiler -Wall,-Wextra,-Wno-unused-parameter,-ffp-contract=off,-fPIE

gpuaggd_c = $(sort $(wildcard cuda/*/*.c))
kernel_cu = $(sort $(wildcard cuda/*/*.cu))
common_c = $(sort $(wildcard src/common/*.c))

# ---- on a real device

gpuaggd_objs = $(patsubst %.c,$(GPUAGGD)/%.o,$(gpuaggd_c) $(common_c)) \
	$(patsubst %.cu,$(GPUAGGD)/%.cu.o,$(kernel_cu))

$(GPUAGGD)/%.o: %.c $(GPUAGGD)/cuda.mk
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(HOST_CFLAGS) -fPIE $(HOST_FLAGS) -DGPUAGG_CUDA_ARCHS='"$(CUDA_ARCHS_FOUND)"' \
		-isystem $(CUDA_INCLUDE) -c -o $@ $<

$(GPUAGGD)/%.cu.o: %.cu $(GPUAGGD)/cuda.mk
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) $(CUDA_GENCODE) -c -o $@ $<

cuda_link = $(CXX) -pie -o $@ $(filter %.o,$^) -L$(CUDA_LIB) -Wl,--as-needed \
	-lcudart_static -lpthread -ldl -lrt -lm

$(GPUAGGD)/gpuaggd: $(gpuaggd_objs)
	$(cuda_link)

# ---- on the simulated device (SANITIZE=address,undefined or thread: a build of its own)

comma = ,
SIM = build/sim$(addprefix -,$(subst $(comma),-,$(SANITIZE)))
# What faults, or checks of addresses, tell as well is not checked again: that is much to compile.
SIM_SANITIZE = $(if $(SANITIZE),-Og -fsanitize=$(SANITIZE) -fno-sanitize-recover=all \
	$(addprefix -fno-sanitize=,null object-size vptr))
SIM_FLAGS = $(SIM_SANITIZE) -DGPUAGG_SIM -Itest/kernels/sim

gpuaggd_sim_objs = $(patsubst %.c,$(SIM)/%.o,$(filter-out cuda/device/gpu_cuda.c,$(gpuaggd_c)))
kernel_sim_objs = $(patsubst %.c,$(SIM)/%.o,$(common_c)) \
	$(patsubst %.cu,$(SIM)/%.cu.o,$(filter-out cuda/kernels/cub.cu cuda/kernels/sort.cu,$(kernel_cu))) \
	$(patsubst %.cc,$(SIM)/%.o,$(filter-out %/planted.cc,$(sort $(wildcard test/kernels/sim/*.cc))))

$(SIM)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(HOST_CFLAGS) $(HOST_FLAGS) $(SIM_FLAGS) -c -o $@ $<

$(SIM)/%.cu.o: %.cu
	@mkdir -p $(@D)
	$(CXX) -x c++ -std=gnu++17 $(HOST_CXXFLAGS) $(HOST_FLAGS) $(SIM_FLAGS) -c -o $@ $<

$(SIM)/%.o: %.cc
	@mkdir -p $(@D)
	$(CXX) -std=gnu++17 $(HOST_CXXFLAGS) $(HOST_FLAGS) $(SIM_FLAGS) -c -o $@ $<

sim_link = $(CXX) $(SIM_SANITIZE) -pthread -o $@ $(filter %.o,$^) -lm

$(SIM)/gpuaggd-sim: $(gpuaggd_sim_objs) $(kernel_sim_objs)
	$(sim_link)

.PHONY: sim
sim: $(SIM)/gpuaggd-sim

# ---- with the extension

.PHONY: gpuaggd install-gpuaggd
ifeq ($(WITH_CUDA_FOUND),yes)
gpuaggd: $(GPUAGGD)/gpuaggd

install-gpuaggd: gpuaggd
	$(MKDIR_P) '$(DESTDIR)$(pkglibdir)'
	$(INSTALL_PROGRAM) $(GPUAGGD)/gpuaggd '$(DESTDIR)$(pkglibdir)/gpuaggd'
endif

ifeq ($(CUDA_DRAFT),)
all: gpuaggd
install: install-gpuaggd
endif

uninstall: uninstall-gpuaggd
.PHONY: uninstall-gpuaggd
uninstall-gpuaggd:
	rm -f '$(DESTDIR)$(pkglibdir)/gpuaggd'

-include $(shell find build -name '*.d' 2>/dev/null)
