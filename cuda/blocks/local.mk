# cuda/blocks
if HAVE_CUDA
libcore_la_SOURCES += cuda/blocks/blocks.cuh cuda/blocks/block_inverse.cuh
endif
