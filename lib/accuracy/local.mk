# lib/accuracy
libcore_la_SOURCES += lib/accuracy/cond.c lib/accuracy/refine.c lib/accuracy/residual.c \
	lib/accuracy/residual.h
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
endif
