# lib/base
libcore_la_SOURCES += lib/base/arena.c lib/base/arena.h lib/base/libraries/blas.c lib/base/libraries/blas.h lib/base/call.c lib/base/call.h lib/base/number/clones.h lib/base/number/cmplx.h \
	lib/base/context.c lib/base/context.h lib/base/debug.h lib/base/device.h lib/base/number/divide.h lib/base/each_type.h lib/base/each_width.h \
	lib/base/libraries/library.c lib/base/libraries/library.h lib/base/memory.c lib/base/memory.h lib/base/number/near.h \
	lib/base/nearest.h lib/base/noun.h lib/base/number/number.c lib/base/number/number.h lib/base/parallel.c lib/base/parallel.h lib/base/user_cache.h \
	lib/base/number/vector.h
DEVICE_H += lib/base/device.h
if !HAVE_CUDA
libcore_la_SOURCES += lib/base/no_device.c
endif
