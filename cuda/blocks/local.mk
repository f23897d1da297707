# cuda/blocks
COSTS += cuda/blocks/costs
if HAVE_CUDA
libcore_la_SOURCES += cuda/blocks/block_inverse.cuh cuda/blocks/blocks.cuh cuda/blocks/inverse.cuh \
	cuda/blocks/published.cuh cuda/blocks/tile.cuh
endif
EXTRA_DIST += cuda/blocks/README.md
