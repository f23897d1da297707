# cuda/segments
COSTS += cuda/segments/costs
libcore_la_SOURCES += cuda/segments/cut.c cuda/segments/cut.h cuda/segments/ranks.c cuda/segments/ranks.h
if HAVE_CUDA
CUDA_SOLVERS += cuda/segments/segments.cu
endif

EXTRA_DIST += cuda/segments/README.md cuda/segments/two-way-cut.svg

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/segments/t_cut
tests_segments_t_cut_SOURCES = tests/segments/t_cut.c $(DAGS) $(MODEL)
tests_segments_t_cut_CFLAGS = $(TEST_FLAGS)
tests_segments_t_cut_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/segments/t_two_way
tests_segments_t_two_way_SOURCES = tests/segments/t_two_way.c $(REFERENCE) $(DAGS) $(MODEL)
tests_segments_t_two_way_CFLAGS = $(TEST_FLAGS)
tests_segments_t_two_way_LDADD = $(TEST_LIBS)
endif
