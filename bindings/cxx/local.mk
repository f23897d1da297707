# bindings/cxx: C++17 and Eigen, by headers alone
include_HEADERS += bindings/cxx/trisolve-sparse.hpp bindings/cxx/trisolve-eigen.hpp
if HAVE_SUITESPARSE
include_HEADERS += bindings/cxx/trisolve-suitesparse.hpp
else
EXTRA_DIST += bindings/cxx/trisolve-suitesparse.hpp
endif
EXTRA_DIST += bindings/cxx/README.md
CXX_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bindings/cxx

# Code for Eigen takes much longer to compile with optimisation than it runs; names of its types take a tenth of the time.
bindings/cxx/examples/heat2d-heat2d.$(OBJEXT) tests/bindings/t_eigen-t_eigen.$(OBJEXT): override CXXFLAGS += -O0 -g1

# the example, built for tests/package/examples.sh, which runs it
if HAVE_EIGEN
if HAVE_SUITESPARSE
EXTRA_PROGRAMS += bindings/cxx/examples/heat2d
CLEANFILES += bindings/cxx/examples/heat2d
tests/package/examples.log: bindings/cxx/examples/heat2d
SLOW_EXAMPLES += bindings/cxx/examples/heat2d
bindings_cxx_examples_heat2d_SOURCES = bindings/cxx/examples/heat2d.cpp
bindings_cxx_examples_heat2d_CPPFLAGS = $(CXX_CPPFLAGS) $(EIGEN_CPPFLAGS)
bindings_cxx_examples_heat2d_CXXFLAGS = $(AM_CXXFLAGS)
bindings_cxx_examples_heat2d_LDADD = $(FACTOR_LIBS) $(TRISOLVE)
endif
endif

# tests
if HAVE_CMOCKA
if HAVE_CXX
check_PROGRAMS += tests/bindings/t_cxx
tests_bindings_t_cxx_SOURCES = tests/bindings/t_cxx.cpp tests/bindings/cmocka.hpp
tests_bindings_t_cxx_CPPFLAGS = $(CXX_CPPFLAGS)
tests_bindings_t_cxx_CXXFLAGS = $(AM_CXXFLAGS) $(CMOCKA_CFLAGS)
tests_bindings_t_cxx_LDADD = $(FACTOR_LIBS) $(TRISOLVE) $(WATCHED) -lpthread
endif
if HAVE_EIGEN
check_PROGRAMS += tests/bindings/t_eigen
tests_bindings_t_eigen_SOURCES = tests/bindings/t_eigen.cpp tests/bindings/cmocka.hpp
tests_bindings_t_eigen_CPPFLAGS = $(CXX_CPPFLAGS) $(EIGEN_CPPFLAGS)
tests_bindings_t_eigen_CXXFLAGS = $(AM_CXXFLAGS) $(CMOCKA_CFLAGS)
tests_bindings_t_eigen_LDADD = $(FACTOR_LIBS) $(TRISOLVE) $(WATCHED)
endif
endif
