# lib/example: the solver that doc/adding-a-solver.md builds
if EXAMPLE_SOLVER
CPU_SOLVERS += lib/example/cpu_columns.c
libcore_la_SOURCES += lib/example/columns.c lib/example/columns.h
COSTS += lib/example/costs
endif

# tests
if HAVE_CMOCKA
if EXAMPLE_SOLVER
check_PROGRAMS += tests/example/t_columns
endif
endif

# the document, and a test that its code is that of the files
EXTRA_DIST += lib/example/costs doc/adding-a-solver.md tests/example/document.sh
TESTS += tests/example/document.sh
