# cuda/fronts
EXTRA_DIST += cuda/fronts/README.md
libcore_la_SOURCES += cuda/fronts/places.c \
	cuda/fronts/schedule.c cuda/fronts/schedule.h
if HAVE_CUDA
libcore_la_SOURCES += cuda/fronts/arrays.cuh cuda/fronts/assemble.cuh cuda/fronts/fronts.cu \
	cuda/fronts/panel.cuh cuda/fronts/product.cuh cuda/fronts/small.cuh cuda/fronts/values.cuh
# programmatic dependent launches (arrays.cuh) need instructions of sm_90
cuda/fronts/fronts.lo: NVCC_GENCODE = $(NVCC_GENCODE_EACH)
endif

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/elimination/t_fronts
tests_elimination_t_fronts_SOURCES = tests/elimination/t_fronts.c tests/elimination/fronts_reference.c tests/elimination/fronts_reference.h
endif
