# lib/elimination
libcore_la_SOURCES += lib/elimination/elimination.h lib/elimination/fronts.h lib/elimination/lu_rows.h
if !HAVE_CUDA
libcore_la_SOURCES += lib/elimination/no_device.c lib/elimination/no_fronts.c
endif
