# lib/select
COSTS += lib/select/costs
libcore_la_SOURCES += lib/select/choose.c lib/select/machine.c lib/select/predict.h lib/select/select.h \
	lib/select/trial.c lib/select/trial.h

# what earlier runs have measured
libcore_la_SOURCES += lib/select/user_costs.c lib/select/user_costs.h lib/select/wisdom.c \
	lib/select/wisdom.h

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/select/t_choice
tests_select_t_choice_SOURCES = tests/select/t_choice.c $(COUNTER) $(MODEL)
tests_select_t_choice_CFLAGS = $(TEST_FLAGS)
tests_select_t_choice_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/select/t_wisdom
tests_select_t_wisdom_SOURCES = tests/select/t_wisdom.c $(MODEL)
tests_select_t_wisdom_CFLAGS = $(TEST_FLAGS)
tests_select_t_wisdom_LDADD = $(TEST_LIBS) -lpthread
endif
EXTRA_DIST += tests/select/choice.sh
