# cuda/dataflow
COSTS += cuda/dataflow/costs
EXTRA_DIST += cuda/dataflow/README.md cuda/dataflow/dataflow.svg cuda/dataflow/figure.py
libcore_la_SOURCES += cuda/dataflow/flow.h
if HAVE_CUDA
CUDA_SOLVERS += cuda/dataflow/dataflow.cu
libcore_la_SOURCES += cuda/dataflow/dataflow.cuh cuda/dataflow/flow.cu \
	cuda/dataflow/flow_slack.cu cuda/dataflow/flow_sort.cu cuda/dataflow/many.cu \
	cuda/dataflow/many.cuh cuda/dataflow/operands.cuh cuda/dataflow/single.cu \
	cuda/dataflow/wide.cu cuda/dataflow/wide.cuh
endif

# tests
if HAVE_CMOCKA
if HAVE_CUDA
FLOW_REFERENCE = tests/dataflow/reference.c tests/dataflow/reference.h
check_PROGRAMS += tests/dataflow/t_flow tests/dataflow/t_many
tests_dataflow_t_flow_SOURCES = tests/dataflow/t_flow.c $(FLOW_REFERENCE)
tests_dataflow_t_many_SOURCES = tests/dataflow/t_many.c $(FLOW_REFERENCE)
endif
endif
