# lib/solvers/blocked
COSTS += lib/solvers/blocked/costs
CPU_SOLVERS += lib/solvers/blocked/cpu_blocked.c
libcore_la_SOURCES += lib/solvers/blocked/blocks.c lib/solvers/blocked/blocks.h

EXTRA_DIST += lib/solvers/blocked/README.md lib/solvers/blocked/blocks.svg

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/blocked/t_blocked
endif
