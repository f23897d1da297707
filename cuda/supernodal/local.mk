# cuda/supernodal
COSTS += cuda/supernodal/costs
if HAVE_CUDA
CUDA_SOLVERS += cuda/supernodal/supernodal.cu
libcore_la_SOURCES += cuda/supernodal/cost.cu cuda/supernodal/large.cuh \
	cuda/supernodal/slice.cuh cuda/supernodal/small.cuh cuda/supernodal/supernodal.cuh \
	cuda/supernodal/update.cu
endif
EXTRA_DIST += cuda/supernodal/README.md cuda/supernodal/supernodes.svg
