# lib/lu_batch: many systems of one pattern, factored and solved
libcore_la_SOURCES += lib/lu_batch/batch_of.h lib/lu_batch/factor.c lib/lu_batch/lanes.h lib/lu_batch/lu_batch.c lib/lu_batch/lu_batch.h \
	lib/lu_batch/on_device.h lib/lu_batch/pattern.c lib/lu_batch/repair.c lib/lu_batch/schedule.c lib/lu_batch/schedule.h \
	lib/lu_batch/solve.c
DEVICE_H += lib/lu_batch/on_device.h
EXTRA_DIST += lib/lu_batch/README.md

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/lu_batch/t_lu_batch tests/lu_batch/t_schedule
endif
