# cuda/supernodal
if HAVE_CUDA
CUDA_SOLVERS += cuda/supernodal/supernodal.cu
libcore_la_SOURCES += cuda/supernodal/cost.cu cuda/supernodal/narrow.cuh \
	cuda/supernodal/slice.cuh cuda/supernodal/supernodal.cuh cuda/supernodal/update.cu \
	cuda/supernodal/wide.cuh
endif
