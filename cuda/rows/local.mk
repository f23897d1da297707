# cuda/rows
COSTS += cuda/rows/costs
EXTRA_DIST += cuda/rows/README.md
if HAVE_CUDA
CUDA_SOLVERS += cuda/rows/rows.cu
endif

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/rows/t_rows
endif
