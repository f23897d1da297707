# cuda/baseline
COSTS += cuda/baseline/costs
if HAVE_CUDA
CUDA_SOLVERS += cuda/baseline/naive.cu cuda/baseline/single_block.cu cuda/baseline/multiblock.cu \
	cuda/baseline/dense/dense_simple.cu cuda/baseline/dense/dense_pair.cu \
	cuda/baseline/dense/dense_doubling.cu cuda/baseline/dense/dense_doubling_tiled.cu \
	cuda/baseline/lu/lu_simple.cu cuda/baseline/lu/lu_row_global.cu cuda/baseline/lu/lu_row_shared.cu \
	cuda/baseline/lu/lu_column_global.cu cuda/baseline/lu/lu_column_shared.cu cuda/baseline/lu/lu_element.cu \
	cuda/baseline/lu/lu_fullgrid.cu cuda/baseline/lu/lu_submatrix.cu cuda/baseline/gauss/gauss_texture.cu \
	cuda/baseline/gauss/gauss_vec4.cu cuda/baseline/gauss/gauss_shared.cu
libcore_la_SOURCES += cuda/baseline/general.cu cuda/baseline/general.cuh cuda/baseline/dense/doubling.cuh \
	cuda/baseline/dense/pair.cuh cuda/baseline/lu/lu.cuh cuda/baseline/lu/lu_grid.cuh \
	cuda/baseline/gauss/gauss.cuh
endif
EXTRA_DIST += cuda/baseline/README.md
