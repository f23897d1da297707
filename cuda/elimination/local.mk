# cuda/elimination
EXTRA_DIST += cuda/elimination/README.md
if HAVE_CUDA
libcore_la_SOURCES += cuda/elimination/elimination.cu cuda/elimination/kernels.cuh \
	cuda/elimination/pivots.cuh cuda/elimination/rows.cu cuda/elimination/rows.cuh \
	cuda/elimination/rows_c32.cu cuda/elimination/rows_c64.cu cuda/elimination/rows_f32.cu \
	cuda/elimination/rows_f64.cu cuda/elimination/rows_kernel.cuh \
	cuda/elimination/rows_schedule.cu cuda/elimination/rows_shapes.cuh
endif

# tests
if HAVE_CMOCKA
if HAVE_CUDA
check_PROGRAMS += tests/elimination/t_elimination
tests_elimination_t_elimination_SOURCES = tests/elimination/t_elimination.c $(STREAM) $(MODEL)
tests_elimination_t_elimination_CFLAGS = $(TEST_FLAGS)
tests_elimination_t_elimination_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_elimination_t_elimination_LDADD = $(TEST_LIBS)
endif
endif
