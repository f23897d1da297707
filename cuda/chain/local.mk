# cuda/chain
if HAVE_CUDA
CUDA_SOLVERS += cuda/chain/chain.cu cuda/chain/host.c
endif
