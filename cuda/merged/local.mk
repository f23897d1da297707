# cuda/merged
COSTS += cuda/merged/costs
libcore_la_SOURCES += cuda/merged/merge.h
EXTRA_DIST += cuda/merged/README.md cuda/merged/figures.py cuda/merged/pass.svg \
	cuda/merged/solve.svg
if HAVE_CUDA
CUDA_SOLVERS += cuda/merged/merged.cu
libcore_la_SOURCES += cuda/merged/merge.cuh cuda/merged/merge_cost.cu cuda/merged/merge_count.cu \
	cuda/merged/merge_long.cu cuda/merged/merge_long.cuh cuda/merged/merge_long_values.cu \
	cuda/merged/merge_pattern.cu cuda/merged/merge_product.cu cuda/merged/merge_recipe.cu \
	cuda/merged/merge_short.cuh \
	cuda/merged/merge_values.cu cuda/merged/merge_write.cuh
endif

# tests
if HAVE_CMOCKA
check_PROGRAMS += tests/merged/t_rewrite
tests_merged_t_rewrite_SOURCES = tests/merged/t_rewrite.c tests/merged/rewrite.c tests/merged/rewrite.h
if HAVE_CUDA
check_PROGRAMS += tests/merged/t_merged
endif
endif
