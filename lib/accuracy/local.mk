# lib/accuracy
libcore_la_SOURCES += lib/accuracy/cond.c lib/accuracy/on_device.h lib/accuracy/refine.c \
	lib/accuracy/refine.h lib/accuracy/refine_device.c lib/accuracy/refine_host.c \
	lib/accuracy/residual.c lib/accuracy/residual.h lib/accuracy/residual_device.c
DEVICE_H += lib/accuracy/on_device.h
EXTRA_DIST += lib/accuracy/README.md

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/accuracy/t_residual tests/accuracy/t_refine tests/accuracy/t_cond \
	tests/accuracy/t_device
endif
