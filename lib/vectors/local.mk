# lib/vectors
libcore_la_SOURCES += lib/vectors/gather.c lib/vectors/gather.h

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/vectors/t_gather
tests_vectors_t_gather_SOURCES = tests/vectors/t_gather.c $(MODEL)
tests_vectors_t_gather_CFLAGS = $(TEST_FLAGS)
tests_vectors_t_gather_LDADD = $(TEST_LIBS)
endif
