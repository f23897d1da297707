# lib/batch: many systems of one pattern
libcore_la_SOURCES += lib/batch/batch.c lib/batch/batch.h lib/batch/rows.c
DEVICE_H += lib/batch/batch.h

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/batch/t_batch
endif
