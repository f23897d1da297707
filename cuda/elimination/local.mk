# cuda/elimination
EXTRA_DIST += cuda/elimination/README.md
if HAVE_CUDA
libcore_la_SOURCES += cuda/elimination/boost.cuh cuda/elimination/elimination.cu cuda/elimination/kernels.cuh \
	cuda/elimination/pivots.cuh cuda/elimination/rows.cu cuda/elimination/rows.cuh \
	cuda/elimination/rows_c32.cu cuda/elimination/rows_c64.cu cuda/elimination/rows_f32.cu \
	cuda/elimination/rows_f64.cu cuda/elimination/rows_kernel.cuh \
	cuda/elimination/rows_schedule.cu cuda/elimination/rows_shapes.cuh
libcore_la_SOURCES += cuda/elimination/entries/entries.cu cuda/elimination/entries/entries.cuh \
	cuda/elimination/entries/levels.cu cuda/elimination/entries/nodes.cuh \
	cuda/elimination/entries/products.cu cuda/elimination/entries/tail.cuh \
	cuda/elimination/entries/tasks.cu
endif

# tests
if HAVE_CMOCKA
if HAVE_CUDA
# a matrix on a fixed pattern, eliminated on the host and on a device
PROBLEM = tests/elimination/problem.c tests/elimination/problem.h
check_PROGRAMS += tests/elimination/t_elimination tests/elimination/t_entries
tests_elimination_t_elimination_SOURCES = tests/elimination/t_elimination.c $(PROBLEM)
tests_elimination_t_entries_SOURCES = tests/elimination/t_entries.c $(PROBLEM)
endif
endif
