# cuda/lu_batch
EXTRA_DIST += cuda/lu_batch/README.md
if HAVE_CUDA
libcore_la_SOURCES += cuda/lu_batch/kernel.cuh cuda/lu_batch/lu_batch.cu cuda/lu_batch/lu_batch.cuh
endif
