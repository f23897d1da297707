# bindings/petsc: the solver type "trisolve" of PETSc, a module that PETSc opens with -dll_prepend
EXTRA_DIST += bindings/petsc/README.md bindings/petsc/build-petsc tests/petsc/functions.sh tests/petsc/gpu.sh \
	tests/petsc/petsc.sh
if HAVE_PETSC
lib_LTLIBRARIES += libtrisolve-petsc.la
libtrisolve_petsc_la_SOURCES = bindings/petsc/factor.c bindings/petsc/factor.h bindings/petsc/register.c \
	bindings/petsc/shift.c bindings/petsc/solve.c bindings/petsc/source.c bindings/petsc/view.c
libtrisolve_petsc_la_CPPFLAGS = $(AM_CPPFLAGS) $(PETSC_CPPFLAGS)
libtrisolve_petsc_la_LIBADD = $(FACTOR_LIBS) $(TRISOLVE) $(PETSC_LIBS)
# PetscFinalize closes the library, and threads of OpenMP live on: nodelete
libtrisolve_petsc_la_LDFLAGS = -module -avoid-version -shared -no-undefined -Wl,-z,nodelete \
	-export-symbols-regex '^PetscDLLibraryRegister_' $(RPATH_LIB)
EXTRA_libtrisolve_petsc_la_DEPENDENCIES = libdir.stamp $(FACTOR_LIBS) $(TRISOLVE)

# tests
noinst_PROGRAMS += tests/petsc/compare tests/petsc/measure
tests_petsc_compare_SOURCES = tests/petsc/compare.c
tests_petsc_compare_CPPFLAGS = $(AM_CPPFLAGS) $(PETSC_CPPFLAGS)
tests_petsc_compare_LDADD = $(TRISOLVE) $(PETSC_LIBS)
tests_petsc_measure_SOURCES = tests/petsc/measure.c
tests_petsc_measure_CPPFLAGS = $(AM_CPPFLAGS) $(PETSC_CPPFLAGS)
tests_petsc_measure_LDADD = $(PETSC_LIBS)
TESTS += tests/petsc/gpu.sh tests/petsc/petsc.sh
endif
