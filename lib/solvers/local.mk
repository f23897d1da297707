# lib/solvers
COSTS += lib/solvers/costs
EXTRA_DIST += lib/solvers/README.md
CPU_SOLVERS = lib/solvers/dense/cpu_dense.c lib/solvers/cpu_serial.c lib/solvers/cpu_level.c \
	lib/solvers/dense/dense_serial.c lib/solvers/dense/lu_serial.c lib/solvers/dense/lapack_getrf.c
libcore_la_SOURCES += lib/solvers/contiguous.c lib/solvers/contiguous.h lib/solvers/cpu_row.h lib/solvers/cpu_serial.h \
	lib/solvers/dense/cpu_full.c lib/solvers/dense/cpu_full.h lib/solvers/dense/general.c lib/solvers/dense/general.h \
	lib/solvers/instance.c lib/solvers/prospect.c lib/solvers/solver.h lib/solvers/table.c

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/solvers/t_solvers
tests_solvers_t_solvers_SOURCES = tests/solvers/t_solvers.c $(STREAM) $(MODEL)
tests_solvers_t_solvers_CFLAGS = $(TEST_FLAGS)
tests_solvers_t_solvers_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/solvers/t_dense
tests_solvers_t_dense_SOURCES = tests/solvers/t_dense.c
tests_solvers_t_dense_CFLAGS = $(TEST_FLAGS)
tests_solvers_t_dense_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/solvers/t_bits
tests_solvers_t_bits_SOURCES = tests/solvers/t_bits.c $(STREAM) $(MODEL)
tests_solvers_t_bits_CFLAGS = $(TEST_FLAGS)
tests_solvers_t_bits_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/solvers/t_capture
tests_solvers_t_capture_SOURCES = tests/solvers/t_capture.c $(STREAM) $(MODEL)
tests_solvers_t_capture_CFLAGS = $(TEST_FLAGS)
tests_solvers_t_capture_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/solvers/t_rows
tests_solvers_t_rows_SOURCES = tests/solvers/t_rows.c $(MODEL)
tests_solvers_t_rows_CFLAGS = $(TEST_FLAGS)
tests_solvers_t_rows_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/solvers/t_threads
tests_solvers_t_threads_SOURCES = tests/solvers/t_threads.c $(STREAM) $(MODEL)
tests_solvers_t_threads_CFLAGS = $(TEST_FLAGS)
tests_solvers_t_threads_LDADD = $(TEST_LIBS) -lpthread
check_PROGRAMS += tests/solvers/t_teams
tests_solvers_t_teams_SOURCES = tests/solvers/t_teams.c $(MODEL)
tests_solvers_t_teams_CFLAGS = $(TEST_FLAGS)
tests_solvers_t_teams_LDADD = $(TEST_LIBS) -lpthread
check_PROGRAMS += tests/solvers/t_huge
tests_solvers_t_huge_SOURCES = tests/solvers/t_huge.c $(MODEL)
tests_solvers_t_huge_CFLAGS = $(TEST_FLAGS)
tests_solvers_t_huge_LDADD = $(TEST_LIBS)
if HAVE_CUDA
check_PROGRAMS += tests/solvers/t_hang
tests_solvers_t_hang_SOURCES = tests/solvers/t_hang.c $(STREAM) $(DAGS) $(MODEL)
tests_solvers_t_hang_CFLAGS = $(TEST_FLAGS)
tests_solvers_t_hang_LDADD = tests/common/libbusy.la $(TEST_LIBS)
endif
endif
