# tests/common: what the tests share
TEST_LIBS = libcore.la $(CMOCKA_LIBS) $(LAPACKE_LIBS)
TEST_FLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(LAPACKE_CFLAGS) $(CUDA_CPPFLAGS)
# memory that is counted, and refused on demand
COUNTER = tests/common/counter.c tests/common/counter.h
# random triangles as lists of entries, in every form, and the residual of a solve
MODEL = tests/common/model.c tests/common/model.h
DAGS = tests/common/dags.c tests/common/dags.h
# triangles, substitution and comparison for the sequential references of algorithms
REFERENCE = tests/common/reference.c tests/common/reference.h
# small full matrices in every form
FULL = tests/common/full.c tests/common/full.h
# is there a device, streams, graphs of what was captured
DEVICE = tests/common/device.h
STREAM = tests/common/stream.h
EXTRA_DIST += tests/common/tap.sh
# another kernel, which keeps SMs to itself
if HAVE_CUDA
check_LTLIBRARIES += tests/common/libbusy.la
tests_common_libbusy_la_SOURCES = tests/common/busy.cu tests/common/busy.h
endif
