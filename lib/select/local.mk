# lib/select
COSTS += lib/select/costs
libcore_la_SOURCES += lib/select/choose.c lib/select/machine.c lib/select/select.h

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/select/t_choice
tests_select_t_choice_SOURCES = tests/select/t_choice.c $(COUNTER) $(MODEL)
tests_select_t_choice_CFLAGS = $(TEST_FLAGS)
tests_select_t_choice_LDADD = $(TEST_LIBS)
endif
EXTRA_DIST += tests/select/choice.sh
