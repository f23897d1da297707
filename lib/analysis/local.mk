# lib/analysis
libcore_la_SOURCES += lib/analysis/level.c lib/analysis/level.h \
	lib/analysis/fundamental_analysis.c lib/analysis/supernode_analysis.c lib/analysis/supernodes.c \
	lib/analysis/supernodes.h lib/analysis/trapezoids.h
# the steps that make supernodes
libcore_la_SOURCES += lib/analysis/supernodal/amalgamation.c \
	lib/analysis/supernodal/amalgamation.h \
	lib/analysis/supernodal/dag.c lib/analysis/supernodal/fundamental.c \
	lib/analysis/supernodal/panels.c lib/analysis/supernodal/ranges.h \
	lib/analysis/supernodal/relaxation.c \
	lib/analysis/supernodal/run_length.c lib/analysis/supernodal/run_length.h \
	lib/analysis/supernodal/steps.h lib/analysis/supernodal/tasks.c

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/analysis/t_level tests/analysis/t_supernodes tests/analysis/t_trapezoids
tests_analysis_t_supernodes_SOURCES = tests/analysis/t_supernodes.c tests/analysis/supernodal_reference.c tests/analysis/supernodal_reference.h
endif

# built by hand, to see where the time of an analysis goes: make tests/analysis/time_analysis
EXTRA_PROGRAMS += tests/analysis/time_analysis tests/analysis/time_device
tests_analysis_time_analysis_SOURCES = tests/analysis/time_analysis.c $(PROBLEMS)
tests_analysis_time_device_SOURCES = tests/analysis/time_device.c $(PROBLEMS)

# simulates several GPUs: doc/scale.md
EXTRA_PROGRAMS += tests/analysis/scale
tests_analysis_scale_SOURCES = tests/analysis/scale.c $(PROBLEMS)
TESTS += tests/analysis/scale.sh
tests/analysis/scale.log: tests/analysis/scale
CLEANFILES += tests/analysis/scale
EXTRA_DIST += tests/analysis/scale.sh
