# cuda/accuracy
EXTRA_DIST += cuda/accuracy/README.md
if HAVE_CUDA
libcore_la_SOURCES += cuda/accuracy/block_stream.cuh cuda/accuracy/lines.cu cuda/accuracy/multiply.cu \
	cuda/accuracy/residual.cu cuda/accuracy/rows.cuh cuda/accuracy/stream.cuh cuda/accuracy/twice.cuh
endif
