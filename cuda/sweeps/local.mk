# cuda/sweeps
EXTRA_DIST += cuda/sweeps/README.md
if HAVE_CUDA
CUDA_SOLVERS += cuda/sweeps/sweeps.cu
endif
