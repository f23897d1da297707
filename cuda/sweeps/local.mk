# cuda/sweeps
EXTRA_DIST += cuda/sweeps/README.md
if HAVE_CUDA
SWEEPERS += cuda/sweeps/sweeps.cu
endif
