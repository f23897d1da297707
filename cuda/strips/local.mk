# cuda/strips
libcore_la_SOURCES += cuda/strips/schedule.c cuda/strips/strips.h
if HAVE_CUDA
CUDA_SOLVERS += cuda/strips/strips.cu
libcore_la_SOURCES += cuda/strips/tile_size.cu
endif

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/strips/t_strips
tests_strips_t_strips_SOURCES = tests/strips/t_strips.c $(COUNTER) $(DAGS) $(MODEL)
tests_strips_t_strips_CFLAGS = $(TEST_FLAGS)
tests_strips_t_strips_LDADD = $(TEST_LIBS)
endif
