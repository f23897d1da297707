# cuda/matrix
EXTRA_DIST += cuda/matrix/README.md
if HAVE_CUDA
libcore_la_SOURCES += cuda/matrix/canonical.cu cuda/matrix/full.cu cuda/matrix/full.cuh cuda/matrix/import.cu \
	cuda/matrix/level.cu cuda/matrix/level_search.cuh cuda/matrix/prune.cuh \
	cuda/matrix/runs.cu cuda/matrix/source.cuh cuda/matrix/values.cu
endif
