# cuda/factor
if HAVE_CUDA
libcore_la_SOURCES += cuda/factor/inverse.cu cuda/factor/lu_rows.cu cuda/factor/schur.cu cuda/factor/values.cu
endif
EXTRA_DIST += cuda/factor/README.md
