# lib/matrix
libcore_la_SOURCES += lib/matrix/bsr.c lib/matrix/canonical.c lib/matrix/canonical.h \
	lib/matrix/check.c lib/matrix/cycle.c lib/matrix/import.c lib/matrix/matrix.h lib/matrix/on_device.h lib/matrix/operator.c lib/matrix/operator.h \
	lib/matrix/pattern_hash.c lib/matrix/pattern_hash.h \
	lib/matrix/permuted.c lib/matrix/permuted.h lib/matrix/submatrix.c lib/matrix/submatrix.h \
	lib/matrix/whole.c lib/matrix/whole.h
if !HAVE_CUDA
libcore_la_SOURCES += lib/matrix/no_device.c
endif

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/matrix/t_check
tests_matrix_t_check_SOURCES = tests/matrix/t_check.c $(MODEL)
tests_matrix_t_check_CFLAGS = $(TEST_FLAGS)
tests_matrix_t_check_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/matrix/t_import
tests_matrix_t_import_SOURCES = tests/matrix/t_import.c $(MODEL)
tests_matrix_t_import_CFLAGS = $(TEST_FLAGS)
tests_matrix_t_import_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/matrix/t_canonical
tests_matrix_t_canonical_SOURCES = tests/matrix/t_canonical.c $(MODEL)
tests_matrix_t_canonical_CFLAGS = $(TEST_FLAGS)
tests_matrix_t_canonical_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/matrix/t_permuted
tests_matrix_t_permuted_SOURCES = tests/matrix/t_permuted.c $(COUNTER) $(MODEL)
tests_matrix_t_permuted_CFLAGS = $(TEST_FLAGS)
tests_matrix_t_permuted_LDADD = $(TEST_LIBS)
if HAVE_CUDA
check_PROGRAMS += tests/matrix/t_device_resident
tests_matrix_t_device_resident_SOURCES = tests/matrix/t_device_resident.c $(DEVICE) $(MODEL)
tests_matrix_t_device_resident_CFLAGS = $(TEST_FLAGS)
tests_matrix_t_device_resident_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/matrix/t_device_import
tests_matrix_t_device_import_SOURCES = tests/matrix/t_device_import.c $(DEVICE) $(MODEL)
tests_matrix_t_device_import_CFLAGS = $(TEST_FLAGS)
tests_matrix_t_device_import_LDADD = $(TEST_LIBS)
endif
endif
