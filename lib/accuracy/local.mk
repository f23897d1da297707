# lib/accuracy
libcore_la_SOURCES += lib/accuracy/cond.c lib/accuracy/on_device.h lib/accuracy/refine.c \
	lib/accuracy/refine.h lib/accuracy/refine_device.c lib/accuracy/refine_host.c \
	lib/accuracy/residual.c lib/accuracy/residual.h lib/accuracy/residual_device.c
if !HAVE_CUDA
libcore_la_SOURCES += lib/accuracy/no_device.c
endif
EXTRA_DIST += lib/accuracy/README.md

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/accuracy/t_residual
tests_accuracy_t_residual_SOURCES = tests/accuracy/t_residual.c $(MODEL)
tests_accuracy_t_residual_CFLAGS = $(TEST_FLAGS)
tests_accuracy_t_residual_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/accuracy/t_refine
tests_accuracy_t_refine_SOURCES = tests/accuracy/t_refine.c $(MODEL)
tests_accuracy_t_refine_CFLAGS = $(TEST_FLAGS)
tests_accuracy_t_refine_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/accuracy/t_cond
tests_accuracy_t_cond_SOURCES = tests/accuracy/t_cond.c $(MODEL)
tests_accuracy_t_cond_CFLAGS = $(TEST_FLAGS)
tests_accuracy_t_cond_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/accuracy/t_device
tests_accuracy_t_device_SOURCES = tests/accuracy/t_device.c $(MODEL)
tests_accuracy_t_device_CFLAGS = $(TEST_FLAGS)
tests_accuracy_t_device_LDADD = $(TEST_LIBS)
endif
