# cuda/seeds
COSTS += cuda/seeds/costs
if HAVE_CUDA
CUDA_SOLVERS += cuda/seeds/naive.cu cuda/seeds/single_block.cu cuda/seeds/multiblock.cu \
	cuda/seeds/dense/dense_simple.cu cuda/seeds/dense/dense_pair.cu \
	cuda/seeds/dense/dense_doubling.cu cuda/seeds/dense/dense_doubling_tiled.cu \
	cuda/seeds/lu/lu_simple.cu cuda/seeds/lu/lu_row_global.cu cuda/seeds/lu/lu_row_shared.cu \
	cuda/seeds/lu/lu_column_global.cu cuda/seeds/lu/lu_column_shared.cu cuda/seeds/lu/lu_element.cu \
	cuda/seeds/lu/lu_fullgrid.cu cuda/seeds/lu/lu_submatrix.cu cuda/seeds/gauss/gauss_texture.cu \
	cuda/seeds/gauss/gauss_vec4.cu cuda/seeds/gauss/gauss_shared.cu
libcore_la_SOURCES += cuda/seeds/general.cu cuda/seeds/general.cuh cuda/seeds/dense/doubling.cuh \
	cuda/seeds/dense/pair.cuh cuda/seeds/lu/lu.cuh cuda/seeds/lu/lu_grid.cuh \
	cuda/seeds/gauss/gauss.cuh
endif
EXTRA_DIST += cuda/seeds/README.md
