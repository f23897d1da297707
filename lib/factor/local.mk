# lib/factor
libcore_la_SOURCES += lib/factor/determinant.c lib/factor/fill.c lib/factor/fill.h lib/factor/half.c \
	lib/factor/ilu.c lib/factor/ilu.h \
	lib/factor/ilu_rows.c lib/factor/lu.c lib/factor/lu.h \
	lib/factor/lu_csc.c lib/factor/lu_import.c lib/factor/lu_solve.c lib/factor/lu_update.c lib/factor/lu_work.c \
	lib/factor/order.c lib/factor/order.h \
	lib/factor/device/complete.c lib/factor/device/complete_factors.c \
	lib/factor/device/complete_fill.c lib/factor/device/complete_fill.h \
	lib/factor/device/fetch.c lib/factor/device/fronts.c lib/factor/device/lu_device.c lib/factor/device/lu_device.h
EXTRA_DIST += lib/factor/README.md

# tests
if HAVE_CMOCKA
INCOMPLETE = tests/factor/incomplete.c tests/factor/incomplete.h $(COUNTER) $(FULL)
THERE = tests/factor/there.h $(DEVICE)
check_PROGRAMS += tests/factor/t_ilu
tests_factor_t_ilu_SOURCES = tests/factor/t_ilu.c $(INCOMPLETE)
tests_factor_t_ilu_CFLAGS = $(TEST_FLAGS)
tests_factor_t_ilu_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/factor/t_lu_import
tests_factor_t_lu_import_SOURCES = tests/factor/t_lu_import.c $(COUNTER) $(FULL)
tests_factor_t_lu_import_CFLAGS = $(TEST_FLAGS)
tests_factor_t_lu_import_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/factor/t_lu_large
tests_factor_t_lu_large_SOURCES = tests/factor/t_lu_large.c $(FULL)
tests_factor_t_lu_large_CFLAGS = $(TEST_FLAGS)
tests_factor_t_lu_large_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/factor/t_selfadjoint
tests_factor_t_selfadjoint_SOURCES = tests/factor/t_selfadjoint.c $(COUNTER) $(FULL)
tests_factor_t_selfadjoint_CFLAGS = $(TEST_FLAGS)
tests_factor_t_selfadjoint_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/factor/t_complete_fill
tests_factor_t_complete_fill_SOURCES = tests/factor/t_complete_fill.c $(FULL)
tests_factor_t_complete_fill_CFLAGS = $(TEST_FLAGS)
tests_factor_t_complete_fill_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/factor/t_fill
tests_factor_t_fill_SOURCES = tests/factor/t_fill.c $(INCOMPLETE)
tests_factor_t_fill_CFLAGS = $(TEST_FLAGS)
tests_factor_t_fill_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/factor/t_det
tests_factor_t_det_SOURCES = tests/factor/t_det.c $(MODEL)
tests_factor_t_det_CFLAGS = $(TEST_FLAGS)
tests_factor_t_det_LDADD = $(TEST_LIBS)
if HAVE_CUDA
check_PROGRAMS += tests/factor/t_ilu_device
tests_factor_t_ilu_device_SOURCES = tests/factor/t_ilu_device.c $(THERE) $(INCOMPLETE)
tests_factor_t_ilu_device_CFLAGS = $(TEST_FLAGS)
tests_factor_t_ilu_device_LDADD = $(TEST_LIBS)
endif
if HAVE_SUITESPARSE
if HAVE_CUDA
check_PROGRAMS += tests/factor/t_lu_device
tests_factor_t_lu_device_SOURCES = tests/factor/t_lu_device.c $(THERE) $(FULL)
tests_factor_t_lu_device_CFLAGS = $(TEST_FLAGS)
tests_factor_t_lu_device_LDADD = libcore-suitesparse.la $(TEST_LIBS)
endif
check_PROGRAMS += tests/factor/t_lu
tests_factor_t_lu_SOURCES = tests/factor/t_lu.c $(COUNTER) $(FULL)
tests_factor_t_lu_CFLAGS = $(TEST_FLAGS)
tests_factor_t_lu_CPPFLAGS = $(AM_CPPFLAGS) $(SUITESPARSE_CPPFLAGS)
tests_factor_t_lu_LDADD = libtrisolve-suitesparse.la libtrisolve-sparse.la $(CMOCKA_LIBS) $(LAPACKE_LIBS)
check_PROGRAMS += tests/factor/t_lu_solve_device
tests_factor_t_lu_solve_device_SOURCES = tests/factor/t_lu_solve_device.c $(THERE) $(FULL)
tests_factor_t_lu_solve_device_CFLAGS = $(TEST_FLAGS)
tests_factor_t_lu_solve_device_CPPFLAGS = $(AM_CPPFLAGS) $(SUITESPARSE_CPPFLAGS)
tests_factor_t_lu_solve_device_LDADD = libtrisolve-suitesparse.la libtrisolve-sparse.la $(CMOCKA_LIBS) $(CUDA_LIBS)
check_PROGRAMS += tests/factor/t_rb
tests_factor_t_rb_SOURCES = tests/factor/t_rb.c
tests_factor_t_rb_CFLAGS = $(TEST_FLAGS)
tests_factor_t_rb_CPPFLAGS = $(AM_CPPFLAGS) $(SUITESPARSE_CPPFLAGS)
tests_factor_t_rb_LDADD = libtrisolve-suitesparse.la libtrisolve-sparse.la $(CMOCKA_LIBS) $(SUITESPARSE_LIBS)
endif
endif

# ---- libtrisolve-suitesparse: what links SuiteSparse, and so the GPL
if HAVE_SUITESPARSE
include_HEADERS += lib/trisolve-suitesparse.h
pkgconfig_DATA += trisolve-suitesparse.pc
noinst_LTLIBRARIES += libcore-suitesparse.la
libcore_suitesparse_la_SOURCES = lib/factor/suitesparse/cholmod.c \
	lib/factor/suitesparse/factor.c lib/factor/suitesparse/factor.h \
	lib/factor/suitesparse/klu.c lib/factor/suitesparse/klu_order.c lib/factor/suitesparse/klu_order.h \
	lib/factor/suitesparse/rb_fields.c lib/factor/suitesparse/rb_fields.h \
	lib/factor/suitesparse/rb_read.c lib/factor/suitesparse/umfpack.c
libcore_suitesparse_la_CPPFLAGS = $(AM_CPPFLAGS) $(SUITESPARSE_CPPFLAGS)
libcore_suitesparse_la_LIBADD = $(SUITESPARSE_LIBS)
lib_LTLIBRARIES += libtrisolve-suitesparse.la
libtrisolve_suitesparse_la_SOURCES =
libtrisolve_suitesparse_la_LIBADD = libcore-suitesparse.la libtrisolve-sparse.la
libtrisolve_suitesparse_la_LDFLAGS = -version-info $(ABI_VERSION) -no-undefined \
	-export-symbols-regex '^trs_' $(RPATH_LIB)
FACTOR_LIBS += libtrisolve-suitesparse.la
else
EXTRA_DIST += lib/trisolve-suitesparse.h
endif
