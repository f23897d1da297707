# cuda/sweeps
EXTRA_DIST += cuda/sweeps/README.md
if HAVE_CUDA
UNLISTED_SOLVERS += cuda/sweeps/sweeps.cu
endif
