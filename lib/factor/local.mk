# lib/factor
libcore_la_SOURCES += lib/factor/determinant.c lib/factor/incomplete/fill.c lib/factor/incomplete/fill.h lib/factor/half.c \
	lib/factor/incomplete/ilu_blocks.c lib/factor/incomplete/ilu_blocks.h lib/factor/incomplete/block_kernels.h lib/factor/incomplete/block_rows.c \
	lib/factor/incomplete/ilu.c lib/factor/incomplete/ilu.h lib/factor/incomplete/ilu_rows.c \
	lib/factor/incomplete/threshold.c lib/factor/incomplete/threshold.h lib/factor/suitesparse/core_table.h lib/factor/lu.c lib/factor/lu.h \
	lib/factor/lu_csc.c lib/factor/lu_first.c lib/factor/lu_first.h lib/factor/lu_hosted.h lib/factor/lu_import.c lib/factor/lu_mat.c lib/factor/lu_mat.h lib/factor/lu_refine.c lib/factor/lu_refine.h lib/factor/lu_solve.c lib/factor/lu_update.c lib/factor/lu_work.c \
	lib/factor/order.c lib/factor/order.h \
	lib/factor/device/blocks.c lib/factor/device/complete.c lib/factor/device/complete_factors.c \
	lib/factor/device/complete_fill.c lib/factor/device/complete_fill.h \
	lib/factor/again/again.c lib/factor/again/again.h lib/factor/again/again_fronts.h lib/factor/again/again_number.h \
	lib/factor/again/front_loops.h lib/factor/again/front_numbers.c lib/factor/again/front_sweep.h \
	lib/factor/again/fronts.c lib/factor/again/lu_front_numbers.c lib/factor/again/lu_front_solve.c \
	lib/factor/again/lu_again.h lib/factor/again/products.c lib/factor/again/row_numbers.c lib/factor/again/rows.c \
	lib/factor/device/fetch.c lib/factor/device/fronts.c lib/factor/device/lu_device.c lib/factor/device/lu_device.h \
	lib/factor/device/inverse.c lib/factor/device/inverse.h lib/factor/device/schur.c lib/factor/device/schur.h lib/factor/device/turned.c lib/factor/device/turned.h
EXTRA_DIST += lib/factor/README.md lib/factor/again/README.md lib/factor/suitesparse/ldlt/README.md

# tests
if HAVE_CMOCKA
INCOMPLETE = tests/factor/incomplete.c tests/factor/incomplete.h
THERE = tests/factor/there.h
check_PROGRAMS += tests/factor/t_ilu tests/factor/t_blocks tests/factor/t_lu_import tests/factor/t_lu_large \
	tests/factor/t_selfadjoint tests/factor/t_complete_fill tests/factor/t_fill tests/factor/t_det tests/factor/t_threshold
tests_factor_t_blocks_SOURCES = tests/factor/t_blocks.c $(INCOMPLETE)
tests_factor_t_ilu_SOURCES = tests/factor/t_ilu.c $(INCOMPLETE)
tests_factor_t_fill_SOURCES = tests/factor/t_fill.c $(INCOMPLETE)
tests_factor_t_threshold_SOURCES = tests/factor/t_threshold.c $(INCOMPLETE)
if HAVE_CUDA
check_PROGRAMS += tests/factor/t_ilu_device tests/factor/t_blocks_device
tests_factor_t_blocks_device_SOURCES = tests/factor/t_blocks_device.c $(THERE) $(INCOMPLETE)
tests_factor_t_ilu_device_SOURCES = tests/factor/t_ilu_device.c $(THERE) $(INCOMPLETE)
endif
if HAVE_SUITESPARSE
if HAVE_CUDA
check_PROGRAMS += tests/factor/t_lu_device tests/factor/suitesparse/t_inverse_device tests/factor/suitesparse/t_both_device
tests_factor_suitesparse_t_both_device_SOURCES = tests/factor/suitesparse/t_both_device.c $(THERE)
tests_factor_suitesparse_t_inverse_device_SOURCES = tests/factor/suitesparse/t_inverse_device.c $(THERE)
tests_factor_t_lu_device_SOURCES = tests/factor/t_lu_device.c $(THERE)
endif
check_PROGRAMS += tests/factor/t_again tests/factor/t_lu tests/factor/t_lu_refine tests/factor/t_lu_solve_device \
	tests/factor/suitesparse/t_rb tests/factor/t_lu_first tests/factor/suitesparse/t_schur
tests_factor_suitesparse_t_schur_SOURCES = tests/factor/suitesparse/t_schur.c $(THERE)
tests_factor_t_lu_solve_device_SOURCES = tests/factor/t_lu_solve_device.c $(THERE)
if HAVE_CHOLMOD
check_PROGRAMS += tests/factor/suitesparse/t_static tests/factor/suitesparse/t_ldlt tests/factor/suitesparse/t_pairs tests/factor/suitesparse/t_turned
tests_factor_suitesparse_t_ldlt_SOURCES = tests/factor/suitesparse/t_ldlt.c tests/factor/suitesparse/middle.h
tests_factor_suitesparse_t_turned_SOURCES = tests/factor/suitesparse/t_turned.c tests/factor/suitesparse/middle.h
if HAVE_CUDA
check_PROGRAMS += tests/factor/suitesparse/t_ldlt_device
tests_factor_suitesparse_t_ldlt_device_SOURCES = tests/factor/suitesparse/t_ldlt_device.c tests/factor/suitesparse/middle.h $(THERE)
endif
endif
endif
endif

# ---- libtrisolve-suitesparse: what links SuiteSparse, and so the GPL
if HAVE_SUITESPARSE
include_HEADERS += lib/trisolve-suitesparse.h
pkgconfig_DATA += trisolve-suitesparse.pc
noinst_LTLIBRARIES += libcore-suitesparse.la
CORES += libcore-suitesparse.la
libcore_suitesparse_la_SOURCES = lib/factor/suitesparse/cholmod.c lib/factor/suitesparse/cholmod.h \
	lib/factor/suitesparse/factor.c lib/factor/suitesparse/factor.h \
	lib/factor/suitesparse/klu.c lib/factor/suitesparse/klu_order.c lib/factor/suitesparse/klu_order.h lib/factor/suitesparse/ldlt/ldlt.c lib/factor/suitesparse/ldlt/numbers.c \
	lib/factor/suitesparse/ldlt/numbers.h lib/factor/suitesparse/ldlt/rows.c \
	lib/factor/suitesparse/ldlt/trust.c lib/factor/suitesparse/ldlt/trust.h lib/factor/suitesparse/ldlt/matching.c lib/factor/suitesparse/ldlt/pairs.c lib/factor/suitesparse/ldlt/pairs.h \
	lib/factor/suitesparse/rb_fields.c lib/factor/suitesparse/rb_fields.h \
	lib/factor/suitesparse/rb_read.c lib/factor/suitesparse/schur.c lib/factor/suitesparse/static.c \
	lib/factor/suitesparse/symbolic.c lib/factor/suitesparse/symbolic.h lib/factor/suitesparse/umfpack.c
libcore_suitesparse_la_LIBADD = $(SUITESPARSE_LIBS)
lib_LTLIBRARIES += libtrisolve-suitesparse.la
libtrisolve_suitesparse_la_SOURCES =
libtrisolve_suitesparse_la_LIBADD = libcore-suitesparse.la libtrisolve-sparse.la
libtrisolve_suitesparse_la_LDFLAGS = -version-info $(ABI_VERSION) -no-undefined \
	-export-symbols libtrisolve-suitesparse.sym $(RPATH_LIB)
EXTRA_libtrisolve_suitesparse_la_DEPENDENCIES = libdir.stamp libtrisolve-suitesparse.sym
else
EXTRA_DIST += lib/trisolve-suitesparse.h
endif
