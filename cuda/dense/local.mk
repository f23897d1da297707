# cuda/dense
COSTS += cuda/dense/costs
if HAVE_CUDA
CUDA_SOLVERS += cuda/dense/dense_blocked.cu
libcore_la_SOURCES += cuda/dense/row_of_tiles.cuh cuda/dense/solve_many.cuh \
	cuda/dense/solve_one.cuh cuda/dense/tiles.cu cuda/dense/tiles.cuh
endif

EXTRA_DIST += cuda/dense/README.md cuda/dense/draw_tiles.py cuda/dense/tiles.svg

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/dense/t_tiles
tests_dense_t_tiles_SOURCES = tests/dense/t_tiles.c tests/dense/tiles_reference.c tests/dense/tiles_reference.h
endif
