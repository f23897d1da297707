# bindings/fortran: modules of Fortran 2008, a library for each C library.  The modules *_c are made from the headers.
EXTRA_DIST += bindings/fortran/README.md bindings/fortran/numbers.inc build-aux/header-fortran
FORTRAN = bindings/fortran
AM_FCFLAGS = $(FC_FLAGS) $(SANITIZERS) $(FC_MODINC)$(FORTRAN) $(FC_MODOUT)$(FORTRAN)
fmoddir = $(includedir)
fmod_DATA =

if HAVE_FORTRAN
HEADER_FORTRAN = AWK='$(AWK)' $(SHELL) $(srcdir)/build-aux/header-fortran
lib_LTLIBRARIES += libtrisolve-fortran.la
pkgconfig_DATA += trisolve-fortran.pc
fmod_DATA += $(FORTRAN)/trisolve.mod $(FORTRAN)/trisolve_sparse_c.mod
libtrisolve_fortran_la_SOURCES = bindings/fortran/trisolve.F90
nodist_libtrisolve_fortran_la_SOURCES = bindings/fortran/trisolve_sparse_c.f90
libtrisolve_fortran_la_LIBADD = libtrisolve-sparse.la
libtrisolve_fortran_la_LDFLAGS = -version-info $(ABI_VERSION) -no-undefined $(RPATH_LIB)
EXTRA_libtrisolve_fortran_la_DEPENDENCIES = libdir.stamp
CLEANFILES += $(fmod_DATA) bindings/fortran/trisolve_sparse_c.f90
bindings/fortran/trisolve_sparse_c.f90: lib/trisolve-sparse.h build-aux/header-fortran
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(HEADER_FORTRAN) trisolve_sparse_c $(srcdir)/lib/trisolve-sparse.h >$@.new && mv $@.new $@
# a module is compiled after those that it uses
bindings/fortran/trisolve.lo: bindings/fortran/trisolve_sparse_c.lo $(srcdir)/bindings/fortran/numbers.inc
$(FORTRAN)/trisolve.mod $(FORTRAN)/trisolve_sparse_c.mod: libtrisolve-fortran.la
	@:

# the example, run by tests/package/examples.sh
noinst_PROGRAMS += bindings/fortran/examples/poisson
EXAMPLES += bindings/fortran/examples/poisson
bindings_fortran_examples_poisson_SOURCES = bindings/fortran/examples/poisson.f90
bindings_fortran_examples_poisson_LDADD = libtrisolve-fortran.la
bindings/fortran/examples/poisson.$(OBJEXT): libtrisolve-fortran.la

if HAVE_SUITESPARSE
lib_LTLIBRARIES += libtrisolve-fortran-suitesparse.la
pkgconfig_DATA += trisolve-fortran-suitesparse.pc
fmod_DATA += $(FORTRAN)/trisolve_suitesparse.mod $(FORTRAN)/trisolve_suitesparse_c.mod
libtrisolve_fortran_suitesparse_la_SOURCES = bindings/fortran/trisolve_suitesparse.f90
nodist_libtrisolve_fortran_suitesparse_la_SOURCES = bindings/fortran/trisolve_suitesparse_c.f90
libtrisolve_fortran_suitesparse_la_LIBADD = libtrisolve-fortran.la libtrisolve-suitesparse.la
libtrisolve_fortran_suitesparse_la_LDFLAGS = $(libtrisolve_fortran_la_LDFLAGS)
EXTRA_libtrisolve_fortran_suitesparse_la_DEPENDENCIES = libdir.stamp
CLEANFILES += bindings/fortran/trisolve_suitesparse_c.f90
bindings/fortran/trisolve_suitesparse_c.f90: lib/trisolve-suitesparse.h lib/trisolve-sparse.h build-aux/header-fortran
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(HEADER_FORTRAN) trisolve_suitesparse_c $(srcdir)/lib/trisolve-suitesparse.h \
	  $(srcdir)/lib/trisolve-sparse.h >$@.new && mv $@.new $@
bindings/fortran/trisolve_suitesparse_c.lo: bindings/fortran/trisolve_sparse_c.lo
bindings/fortran/trisolve_suitesparse.lo: bindings/fortran/trisolve_suitesparse_c.lo bindings/fortran/trisolve.lo
$(FORTRAN)/trisolve_suitesparse.mod $(FORTRAN)/trisolve_suitesparse_c.mod: libtrisolve-fortran-suitesparse.la
	@:
endif

# tests
check_PROGRAMS += tests/bindings/t_fortran
tests_bindings_t_fortran_SOURCES = tests/bindings/t_fortran.F90
tests_bindings_t_fortran_LDADD = libtrisolve-fortran.la $(TRISOLVE) $(WATCHED)
tests/bindings/t_fortran.$(OBJEXT): libtrisolve-fortran.la $(srcdir)/tests/bindings/t_fortran.inc
if HAVE_SUITESPARSE
check_PROGRAMS += tests/bindings/t_fortran_suitesparse
tests_bindings_t_fortran_suitesparse_SOURCES = tests/bindings/t_fortran_suitesparse.f90
tests_bindings_t_fortran_suitesparse_LDADD = libtrisolve-fortran-suitesparse.la libtrisolve-fortran.la $(TRISOLVE) $(WATCHED)
tests/bindings/t_fortran_suitesparse.$(OBJEXT): libtrisolve-fortran-suitesparse.la
endif
TESTS += tests/bindings/layout.sh
endif
EXTRA_DIST += tests/bindings/t_fortran.inc tests/bindings/layout.sh
