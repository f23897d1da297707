# cuda/runtime
EXTRA_DIST += cuda/runtime/README.md
if HAVE_CUDA
libcore_la_SOURCES += cuda/runtime/branch.cu cuda/runtime/copy.cu cuda/runtime/cuda.cuh cuda/runtime/delay.cuh \
	cuda/runtime/device.cu cuda/runtime/device.cuh cuda/runtime/divide.cuh \
	cuda/runtime/flag.cuh cuda/runtime/launch.cuh cuda/runtime/memory.cu \
	cuda/runtime/memory.cuh cuda/runtime/move.cu cuda/runtime/number.cuh cuda/runtime/public.cu \
	cuda/runtime/sort.cu cuda/runtime/sort.cuh cuda/runtime/vectors.cu cuda/runtime/view.cuh
endif
