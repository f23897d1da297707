# lib/elimination
libcore_la_SOURCES += lib/elimination/block_factors.h lib/elimination/elimination.h lib/elimination/elimination_tree.c \
	lib/elimination/elimination_tree.h lib/elimination/front_tree.c lib/elimination/front_tree.h \
	lib/elimination/fronts.h lib/elimination/inverse.h lib/elimination/lu_rows.h lib/elimination/schur.h
DEVICE_H += lib/elimination/elimination.h lib/elimination/block_factors.h lib/elimination/fronts.h lib/elimination/inverse.h lib/elimination/lu_rows.h lib/elimination/schur.h

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/elimination/t_elimination_tree
endif
