# lib/solvers/supernodal
COSTS += lib/solvers/supernodal/costs
CPU_SOLVERS += lib/solvers/supernodal/cpu_supernodal.c
libcore_la_SOURCES += lib/solvers/supernodal/fill.c lib/solvers/supernodal/lists.c lib/solvers/supernodal/many.c lib/solvers/supernodal/one.c \
	lib/solvers/supernodal/schedule.c lib/solvers/supernodal/supernodal.h \
	lib/solvers/supernodal/tiles.h lib/solvers/supernodal/tree.c
EXTRA_DIST += lib/solvers/supernodal/README.md

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/supernodal/t_supernodal tests/supernodal/t_chains
endif
