# cuda/dense
if HAVE_CUDA
CUDA_SOLVERS += cuda/dense/dense_blocked.cu
libcore_la_SOURCES += cuda/dense/tiles.cu cuda/dense/tiles.cuh
endif
