# cuda/chain
COSTS += cuda/chain/costs
if HAVE_CUDA
CUDA_SOLVERS += cuda/chain/chain.cu cuda/chain/host.c
endif

EXTRA_DIST += cuda/chain/README.md cuda/chain/pointer-jumping.svg

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/chain/t_chain
endif
