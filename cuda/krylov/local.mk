# cuda/krylov
EXTRA_DIST += cuda/krylov/README.md
if HAVE_CUDA
libcore_la_SOURCES += cuda/krylov/pass.cu
endif
