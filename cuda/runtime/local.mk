# cuda/runtime
if HAVE_CUDA
libcore_la_SOURCES += cuda/runtime/cuda.cuh cuda/runtime/delay.cuh cuda/runtime/device.cu \
	cuda/runtime/divide.cuh cuda/runtime/flag.cuh
endif
