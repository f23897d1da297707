# lib/analysis
libcore_la_SOURCES += lib/analysis/amalgamation.c lib/analysis/amalgamation.h \
	lib/analysis/level.c lib/analysis/level.h lib/analysis/run_length.c lib/analysis/run_length.h \
	lib/analysis/supernode_analysis.c lib/analysis/supernodes.c lib/analysis/supernodes.h

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/analysis/t_level
tests_analysis_t_level_SOURCES = tests/analysis/t_level.c $(MODEL)
tests_analysis_t_level_CFLAGS = $(TEST_FLAGS)
tests_analysis_t_level_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/analysis/t_supernodes
tests_analysis_t_supernodes_SOURCES = tests/analysis/t_supernodes.c $(COUNTER) $(DAGS) $(MODEL)
tests_analysis_t_supernodes_CFLAGS = $(TEST_FLAGS)
tests_analysis_t_supernodes_LDADD = $(TEST_LIBS)
endif

# built by hand, to see where the time of an analysis goes: make tests/analysis/time_analysis
EXTRA_PROGRAMS += tests/analysis/time_analysis tests/analysis/time_device
tests_analysis_time_analysis_SOURCES = tests/analysis/time_analysis.c $(PROBLEMS)
tests_analysis_time_analysis_LDADD = $(FACTOR_LIBS) libcore.la
tests_analysis_time_device_SOURCES = tests/analysis/time_device.c $(PROBLEMS)
tests_analysis_time_device_LDADD = $(FACTOR_LIBS) libcore.la
