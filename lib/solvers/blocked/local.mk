# lib/solvers/blocked
COSTS += lib/solvers/blocked/costs
CPU_SOLVERS += lib/solvers/blocked/cpu_blocked.c
libcore_la_SOURCES += lib/solvers/blocked/blocks.c lib/solvers/blocked/blocks.h

EXTRA_DIST += lib/solvers/blocked/README.md lib/solvers/blocked/blocks.svg

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/blocked/t_blocked
tests_blocked_t_blocked_SOURCES = tests/blocked/t_blocked.c $(REFERENCE) $(DAGS) $(MODEL)
tests_blocked_t_blocked_CFLAGS = $(TEST_FLAGS)
tests_blocked_t_blocked_LDADD = $(TEST_LIBS)
endif
