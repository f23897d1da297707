# cuda/levels
COSTS += cuda/levels/costs
EXTRA_DIST += cuda/levels/README.md
if HAVE_CUDA
CUDA_SOLVERS += cuda/levels/levels.cu
endif

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/levels/t_levels
endif
