# cuda/segments
COSTS += cuda/segments/costs
libcore_la_SOURCES += cuda/segments/cut.c cuda/segments/cut.h cuda/segments/ranks.c cuda/segments/ranks.h
if HAVE_CUDA
CUDA_SOLVERS += cuda/segments/segments.cu
endif

EXTRA_DIST += cuda/segments/README.md cuda/segments/two-way-cut.svg

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/segments/t_cut tests/segments/t_two_way
endif
