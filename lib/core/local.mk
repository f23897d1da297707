# lib/core
libcore_la_SOURCES += lib/core/both.c lib/core/both.h lib/core/general.c lib/core/general.h \
	lib/core/hosted.c lib/core/import_device.c lib/core/operators.c lib/core/pivots.c \
	lib/core/plan.c lib/core/plan.h lib/core/plan_create.c lib/core/plan_info.c \
	lib/core/refresh.c lib/core/refresh.h lib/core/refresh_device.c lib/core/saved.c \
	lib/core/solve.c lib/core/work.h
libcore_la_SOURCES += lib/core/choice/build.c lib/core/choice/choice.h lib/core/choice/grow.c \
	lib/core/choice/measure.c lib/core/choice/predict.c lib/core/choice/recall.c

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/core/t_plan tests/core/t_reserved tests/core/t_pivots tests/core/t_saved \
	tests/core/t_refresh tests/core/t_grow tests/core/t_progress tests/core/t_device
tests_core_t_device_LDADD = $(STATIC_LDADD)
if HAVE_CUDA
tests_core_t_device_LDFLAGS = $(BEFORE_ALL) -Wl,--wrap=cudaGetDeviceCount,--wrap=cudaGetDevice,--wrap=cudaSetDevice
endif
endif
