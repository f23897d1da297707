# lib/batch: many systems of one pattern
libcore_la_SOURCES += lib/batch/batch.c lib/batch/batch.h lib/batch/rows.c
if !HAVE_CUDA
libcore_la_SOURCES += lib/batch/no_device.c
endif

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/batch/t_batch
tests_batch_t_batch_SOURCES = tests/batch/t_batch.c $(COUNTER) $(MODEL)
tests_batch_t_batch_CFLAGS = $(TEST_FLAGS)
tests_batch_t_batch_LDADD = $(TEST_LIBS) -lpthread
endif
