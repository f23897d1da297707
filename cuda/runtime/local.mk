# cuda/runtime
EXTRA_DIST += cuda/runtime/README.md
if HAVE_CUDA
libcore_la_SOURCES += cuda/runtime/branch.cu cuda/runtime/copy.cu cuda/runtime/cuda.cuh cuda/runtime/delay.cuh \
	cuda/runtime/device.cu cuda/runtime/device.cuh cuda/runtime/divide.cuh \
	cuda/runtime/flag.cuh cuda/runtime/launch.cuh cuda/runtime/memory.cu \
	cuda/runtime/memory.cuh cuda/runtime/move.cu cuda/runtime/number.cuh cuda/runtime/public.cu \
	cuda/runtime/sort.cu cuda/runtime/sort.cuh cuda/runtime/vectors.cu cuda/runtime/view.cuh
endif

# tests
if HAVE_CMOCKA
if HAVE_CUDA
check_PROGRAMS += tests/runtime/t_faults tests/runtime/t_memory
tests_runtime_t_faults_SOURCES = tests/runtime/t_faults.c tests/runtime/faults.c tests/runtime/faults.h
tests_runtime_t_faults_LDADD = $(STATIC_LDADD)
tests_runtime_t_faults_LDFLAGS = $(BEFORE_ALL) \
	$(shell sed -n 's/^[A-Z][A-Z]*.\(_*cuda[A-Za-z0-9_]*\),.*/-Wl,--wrap=\1/p' $(srcdir)/tests/runtime/faults.c)
endif
endif
