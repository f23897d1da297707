# lib/solvers/ell
COSTS += lib/solvers/ell/costs
CPU_SOLVERS += lib/solvers/ell/cpu_ell.c
libcore_la_SOURCES += lib/solvers/ell/blocks.c lib/solvers/ell/blocks.h

EXTRA_DIST += lib/solvers/ell/README.md

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/ell/t_ell
endif
