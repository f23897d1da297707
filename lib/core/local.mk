# lib/core
libcore_la_SOURCES += lib/core/general.c lib/core/general.h \
	lib/core/hosted.c lib/core/measure.c lib/core/operators.c lib/core/pivots.c \
	lib/core/plan.c lib/core/plan.h lib/core/plan_create.c lib/core/plan_info.c lib/core/predict.c \
	lib/core/refresh.c lib/core/refresh.h lib/core/saved.c \
	lib/core/solve.c lib/core/work.h
libcore_la_SOURCES += lib/core/recall.c lib/core/recall.h

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/core/t_plan
tests_core_t_plan_SOURCES = tests/core/t_plan.c $(COUNTER) $(MODEL)
tests_core_t_plan_CFLAGS = $(TEST_FLAGS)
tests_core_t_plan_LDADD = $(TEST_LIBS) -lpthread
check_PROGRAMS += tests/core/t_reserved
tests_core_t_reserved_SOURCES = tests/core/t_reserved.c
tests_core_t_reserved_CFLAGS = $(TEST_FLAGS)
tests_core_t_reserved_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/core/t_pivots
tests_core_t_pivots_SOURCES = tests/core/t_pivots.c $(MODEL)
tests_core_t_pivots_CFLAGS = $(TEST_FLAGS)
tests_core_t_pivots_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/core/t_saved
tests_core_t_saved_SOURCES = tests/core/t_saved.c $(COUNTER) $(MODEL)
tests_core_t_saved_CFLAGS = $(TEST_FLAGS)
tests_core_t_saved_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/core/t_refresh
tests_core_t_refresh_SOURCES = tests/core/t_refresh.c $(STREAM) $(MODEL)
tests_core_t_refresh_CFLAGS = $(TEST_FLAGS)
tests_core_t_refresh_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/core/t_device
tests_core_t_device_SOURCES = tests/core/t_device.c $(MODEL)
tests_core_t_device_CFLAGS = $(TEST_FLAGS)
tests_core_t_device_LDADD = $(TEST_LIBS)
if HAVE_CUDA
tests_core_t_device_LDFLAGS = -Wl,--wrap=cudaGetDeviceCount,--wrap=cudaGetDevice,--wrap=cudaSetDevice
endif
endif
