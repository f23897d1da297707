# lib/solvers/sweeps
UNLISTED_SOLVERS += lib/solvers/sweeps/cpu_sweeps.c
libcore_la_SOURCES += lib/solvers/sweeps/sweeps.h
EXTRA_DIST += lib/solvers/sweeps/README.md

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/sweeps/t_sweeps
endif
