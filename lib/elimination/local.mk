# lib/elimination
libcore_la_SOURCES += lib/elimination/elimination.h
if !HAVE_CUDA
libcore_la_SOURCES += lib/elimination/no_device.c
endif
