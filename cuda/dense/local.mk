# cuda/dense
if HAVE_CUDA
CUDA_SOLVERS += cuda/dense/dense_blocked.cu
libcore_la_SOURCES += cuda/dense/row_of_tiles.cuh cuda/dense/solve_many.cuh \
	cuda/dense/solve_one.cuh cuda/dense/tiles.cu cuda/dense/tiles.cuh
endif
