# cuda/strips
COSTS += cuda/strips/costs
EXTRA_DIST += cuda/strips/README.md cuda/strips/figures/figures.py cuda/strips/figures/solve.svg \
	cuda/strips/figures/structure.svg
libcore_la_SOURCES += cuda/strips/codes.c cuda/strips/halo.c cuda/strips/packets.c \
	cuda/strips/schedule.c cuda/strips/schedule.h cuda/strips/strips.h cuda/strips/tasks.c \
	cuda/strips/tile_rows.c
if HAVE_CUDA
CUDA_SOLVERS += cuda/strips/strips.cu
libcore_la_SOURCES += cuda/strips/consumer.cuh cuda/strips/fetcher.cuh cuda/strips/loader.cuh \
	cuda/strips/shared.cuh cuda/strips/tile.cuh cuda/strips/tile_size.cu cuda/strips/update.cuh
endif

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/strips/t_strips
tests_strips_t_strips_SOURCES = tests/strips/t_strips.c tests/strips/reference.c tests/strips/reference.h tests/strips/pack.c
endif
