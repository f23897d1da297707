# lib/solvers/stencil
COSTS += lib/solvers/stencil/costs
CPU_SOLVERS += lib/solvers/stencil/cpu_stencil.c
libcore_la_SOURCES += lib/solvers/stencil/dealing.c lib/solvers/stencil/dealing.h lib/solvers/stencil/schedule.c \
	lib/solvers/stencil/schedule.h lib/solvers/stencil/tile.h lib/solvers/stencil/units.c lib/solvers/stencil/units.h

EXTRA_DIST += lib/solvers/stencil/README.md

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/stencil/t_stencil
endif
