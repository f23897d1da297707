# cuda/peers
EXTRA_DIST += cuda/peers/README.md
if HAVE_CUDA
UNLISTED_SOLVERS += cuda/peers/peers.cu
libcore_la_SOURCES += cuda/peers/cut.cu cuda/peers/part.cu cuda/peers/parts.cuh cuda/peers/solve.cu
endif

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/peers/t_peers
tests_peers_t_peers_SOURCES = tests/peers/t_peers.c tests/peers/lists.h tests/peers/split.h
endif

# measures solves on two devices: doc/scale.md
if HAVE_CUDA
EXTRA_PROGRAMS += tests/peers/two
tests_peers_two_SOURCES = tests/peers/two.c tests/peers/split.h $(PROBLEMS)
CLEANFILES += tests/peers/two
endif
