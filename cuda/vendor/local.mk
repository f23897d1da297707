# cuda/vendor
COSTS += cuda/vendor/costs
if HAVE_CUDA
CUDA_SOLVERS += cuda/vendor/cusparse.c cuda/vendor/cublas_dense.cu cuda/vendor/cusolver_getrf.c
libcore_la_SOURCES += cuda/vendor/cusparse.h cuda/vendor/cusparse_calls.c cuda/vendor/vendor.c \
	cuda/vendor/vendor.h
endif
EXTRA_DIST += cuda/vendor/README.md
