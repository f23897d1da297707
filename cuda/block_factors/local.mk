# cuda/block_factors
if HAVE_CUDA
libcore_la_SOURCES += cuda/block_factors/block_factors.cu cuda/block_factors/blocks_c32.cu cuda/block_factors/blocks_c64.cu \
	cuda/block_factors/blocks_f32.cu cuda/block_factors/blocks_f64.cu cuda/block_factors/factor_kernel.cuh \
	cuda/block_factors/kernels.cuh cuda/block_factors/solve_kernel.cuh cuda/block_factors/table.cuh
endif
EXTRA_DIST += cuda/block_factors/README.md
