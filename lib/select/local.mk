# lib/select
COSTS += lib/select/costs
libcore_la_SOURCES += lib/select/choose.c lib/select/machine.c lib/select/predict.h lib/select/select.h \
	lib/select/trial.c lib/select/trial.h

# what earlier runs have measured
libcore_la_SOURCES += lib/select/user_costs.c lib/select/user_costs.h lib/select/wisdom.c \
	lib/select/wisdom.h

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/select/t_choice tests/select/t_wisdom
endif
EXTRA_DIST += tests/select/choice.sh
