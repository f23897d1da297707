# cuda/batch
if HAVE_CUDA
libcore_la_SOURCES += cuda/batch/batch.cu
endif
