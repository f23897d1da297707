# cuda/chain
COSTS += cuda/chain/costs
if HAVE_CUDA
CUDA_SOLVERS += cuda/chain/chain.cu cuda/chain/host.c
endif

EXTRA_DIST += cuda/chain/README.md cuda/chain/pointer-jumping.svg

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/chain/t_chain
tests_chain_t_chain_SOURCES = tests/chain/t_chain.c $(REFERENCE) $(DAGS) $(MODEL)
tests_chain_t_chain_CFLAGS = $(TEST_FLAGS)
tests_chain_t_chain_LDADD = $(TEST_LIBS)
endif
