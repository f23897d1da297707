# cuda/elimination
if HAVE_CUDA
libcore_la_SOURCES += cuda/elimination/elimination.cu cuda/elimination/kernels.cuh \
	cuda/elimination/pivots.cuh
endif
