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
check_PROGRAMS += tests/solvers/t_solvers tests/solvers/t_dense tests/solvers/t_bits tests/solvers/t_capture \
	tests/solvers/t_rows tests/solvers/t_threads tests/solvers/t_teams tests/solvers/t_shared \
	tests/solvers/t_huge tests/solvers/t_fork
tests_solvers_t_teams_SOURCES = tests/solvers/t_teams.c tests/solvers/large.c tests/solvers/large.h
tests_solvers_t_shared_SOURCES = tests/solvers/t_shared.c tests/solvers/large.c tests/solvers/large.h
# it clears the error that a refused capture leaves in the CUDA runtime, which must be the library's own
tests_solvers_t_capture_LDFLAGS = $(BEFORE_ALL)
tests_solvers_t_capture_LDADD = $(STATIC_LDADD)
if HAVE_CUDA
check_PROGRAMS += tests/solvers/t_hang
endif
endif
