# cuda/subtrees
EXTRA_DIST += cuda/subtrees/README.md
libcore_la_SOURCES += cuda/subtrees/cut.c cuda/subtrees/cut.h cuda/subtrees/parts.c cuda/subtrees/parts.h
if HAVE_CUDA
UNLISTED_SOLVERS += cuda/subtrees/subtrees.cu
endif

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/subtrees/t_subtrees
endif
